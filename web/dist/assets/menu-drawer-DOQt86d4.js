<<<<<<<< HEAD:web/dist/assets/menu-drawer-ZnRd2EVH.js
import{zr as e}from"./base-2VE03-pP.js";import{n as t}from"./frame-1uxks8I0.js";import{jt as n}from"./common-BHxErrXU.js";var r=e();function i({open:e,operator:i,onClose:a}){return(0,r.jsx)(n,{open:e,placement:`left`,size:264,title:`Tollgate`,onClose:a,styles:{body:{padding:`8px 0`}},children:(0,r.jsx)(t,{operator:i,folded:!1,onChosen:a})})}export{i as MenuDrawer};
========
import{zr as e}from"./base-BGnkuOsD.js";import{n as t}from"./frame-C49bK3eG.js";import{jt as n}from"./common-DkaP4VAM.js";var r=e();function i({open:e,operator:i,onClose:a}){return(0,r.jsx)(n,{open:e,placement:`left`,size:264,title:`Tollgate`,onClose:a,styles:{body:{padding:`8px 0`}},children:(0,r.jsx)(t,{operator:i,folded:!1,onChosen:a})})}export{i as MenuDrawer};
>>>>>>>> a6c69583 (build(console): the pages of the last change):web/dist/assets/menu-drawer-DOQt86d4.js
