// Made by scripts/bundle.mjs from attnviz/canvas.
function n(t){let e=t.parentElement.querySelector(".av-root");if(!(e instanceof HTMLElement))throw new Error("the component's root element is missing");return e}function o(t){let{svg:e}=t.data,r=new DOMParser().parseFromString(e,"image/svg+xml").documentElement;n(t).replaceChildren(document.importNode(r,!0))}export{o as default};
