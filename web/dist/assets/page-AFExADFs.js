<<<<<<<< HEAD:web/dist/assets/page-B78Og3xM.js
import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{Hr as t,Wn as n,p as r,zr as i}from"./base-2VE03-pP.js";var a=e(t(),1),o=i();function s(){let e=r(n());return(0,a.useEffect)(()=>window.location.replace(e),[e]),(0,o.jsx)(`a`,{href:e,children:e})}export{s as DocsPage};
========
import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{Hr as t,Wn as n,p as r,zr as i}from"./base-BGnkuOsD.js";var a=e(t(),1),o=i();function s(){let e=r(n());return(0,a.useEffect)(()=>window.location.replace(e),[e]),(0,o.jsx)(`a`,{href:e,children:e})}export{s as DocsPage};
>>>>>>>> a6c69583 (build(console): the pages of the last change):web/dist/assets/page-AFExADFs.js
