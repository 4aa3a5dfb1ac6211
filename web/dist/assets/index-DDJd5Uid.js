<<<<<<<< HEAD:web/dist/assets/index-BKp_I1vC.js
import{Br as e,Cn as t,Vn as n,h as r,t as i,wn as a,zn as o,zr as s}from"./base-2VE03-pP.js";var c=e(),l=s();o();var u=t(),d=i();async function f(){if(document.documentElement.dataset.plain!==void 0)return;let[e]=await Promise.all([n(),d.load().catch(()=>void 0)]);e&&a(u,e)}var p=document.getElementById(`root`);p&&f().then(()=>(0,c.createRoot)(p).render((0,l.jsx)(r,{client:u,router:d})));
========
import{Br as e,Cn as t,Vn as n,h as r,t as i,wn as a,zn as o,zr as s}from"./base-BGnkuOsD.js";var c=e(),l=s();o();var u=t(),d=i();async function f(){if(document.documentElement.dataset.plain!==void 0)return;let[e]=await Promise.all([n(),d.load().catch(()=>void 0)]);e&&a(u,e)}var p=document.getElementById(`root`);p&&f().then(()=>(0,c.createRoot)(p).render((0,l.jsx)(r,{client:u,router:d})));
>>>>>>>> a6c69583 (build(console): the pages of the last change):web/dist/assets/index-DDJd5Uid.js
