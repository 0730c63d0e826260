// Made by scripts/bundle.mjs from attnviz/canvas.
import{rootElement as p,reportingButtons as d}from"../attnviz.shared/shared.js";import{copy as i}from"../attnviz.shared/shared.js";function f(t){let{texts:r,labels:o}=t.data,e=p(t),a=r.map(({name:n,label:c,text:s})=>({label:c,attributes:{"data-copy":n},act:()=>i(s,e)}));d(e,a,{done:o.done},()=>o.failed)}export{f as default};
