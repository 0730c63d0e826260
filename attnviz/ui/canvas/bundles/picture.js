// Made by scripts/bundle.mjs from ../src.
function r(e){let t=e.parentElement.querySelector(".av-root");if(!(t instanceof HTMLElement))throw new Error("the component's root element is missing");return t}function o(e){let{svg:t}=e.data,n=new DOMParser().parseFromString(t,"image/svg+xml").documentElement;r(e).replaceChildren(document.importNode(n,!0))}export{o as default};
