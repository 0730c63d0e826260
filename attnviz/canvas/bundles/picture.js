// Made by scripts/bundle.mjs from attnviz/canvas.
function n(e){let t=e.parentElement.querySelector(".av-root");if(!(t instanceof HTMLElement))throw new Error("the component's root element is missing");return t}function o(e){let{svg:t}=e.data,r=new DOMParser().parseFromString(t,"image/svg+xml").documentElement;n(e).replaceChildren(document.importNode(r,!0))}export{o as default};
