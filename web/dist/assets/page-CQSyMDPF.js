import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{C as t,Ht as n,Ki as r,Ri as i,Ut as a,Vt as o,m as s,tn as c,w as l}from"./base-B26rEEKO.js";import{C as u,dt as d,ft as f}from"./frame-CphtEIdP.js";import{Dt as p,Nt as m,Pt as h,at as g,ft as _,st as v}from"./common-BZDjJSdo.js";import{a as y,n as b,t as x}from"./forms-VCYBeDak.js";import{n as S}from"./lists-Cbx1smiW.js";import{a as C,l as w,o as T,r as E,s as D}from"./webhooks-BS9_yYnf.js";var O=e(r(),1),k=i();function A(){let e=c(T),{message:t}=u.useApp(),r=a(),i=n(D.alertChannels,{}),s=o(D.removeAlertChannel),[f,p]=(0,O.useState)(!1),[h,g]=(0,O.useState)(!1),[_,v]=(0,O.useState)(),[y,b]=(0,O.useState)(),C=r.data?.read_only===!1;return(0,k.jsxs)(m,{title:(0,k.jsx)(`h2`,{children:e.alerts}),extra:C&&(0,k.jsx)(l,{type:`primary`,onClick:()=>p(!0),children:e.addChannel}),children:[(0,k.jsxs)(`div`,{className:`stack`,children:[(0,k.jsx)(`span`,{className:`muted`,children:e.alertsText}),(0,k.jsxs)(`span`,{className:`row`,children:[e.percents(i.data?.percents??[]),C&&(0,k.jsx)(l,{size:`small`,onClick:()=>g(!0),children:e.change})]}),(0,k.jsx)(S,{query:i,items:({items:e})=>e,rowKey:({id:e})=>e,label:e.alerts,empty:{text:e.emptyChannels},columns:[{title:e.kind,render:(t,{kind:n})=>e[n]},{title:e.target,render:(e,{target:t})=>(0,k.jsx)(`span`,{className:`mono`,children:t})},{title:e.state,card:`side`,render:(e,t)=>(0,k.jsx)(j,{channel:t})},{title:e.created,render:(e,{created_at:t})=>(0,k.jsx)(d,{at:t})},{title:``,align:`end`,render:(t,n)=>C&&(0,k.jsxs)(`span`,{className:`row`,children:[n.state===`unconfirmed`&&(0,k.jsx)(l,{size:`small`,onClick:()=>v(n),children:e.confirm}),(0,k.jsx)(l,{size:`small`,danger:!0,onClick:()=>b(n),children:e.remove})]})}]})]}),(0,k.jsx)(N,{open:f,kinds:i.data?.kinds??[],onClose:()=>p(!1),onAdded:v}),(0,k.jsx)(M,{open:h,percents:i.data?.percents??[],onClose:()=>g(!1)}),(0,k.jsx)(P,{channel:_,onClose:()=>v(void 0)}),(0,k.jsx)(x,{open:y!==void 0,danger:!0,title:e.removeChannelTitle,consequence:e.removeChannelText(y?.target??``),ok:e.remove,onClose:()=>b(void 0),onConfirm:async()=>{y&&(await s.mutateAsync({body:{},params:{id:y.id}}),t.success(e.removed))}})]})}function j({channel:e}){let t=c(T);if(e.state===`active`)return(0,k.jsx)(f,{tone:`success`,children:t.active});if(e.state===`unconfirmed`)return(0,k.jsx)(f,{tone:`warning`,children:t.unconfirmed});let n={rejected:t.rejected,failing:t.failingLong,unsubscribed:t.unsubscribed};return(0,k.jsx)(f,{tone:`error`,children:`${t.disabled} · ${n[e.disabled_reason??``]??``}`})}function M({open:e,percents:t,onClose:n}){let r=c(T),{message:i}=u.useApp(),[a]=y.useForm(),s=o(D.setAlertPercents);return(0,k.jsx)(b,{open:e,title:r.percentsTitle,ok:r.save,danger:!1,form:a,initial:{percents:t.map(String)},header:(0,k.jsx)(`span`,{children:r.percentsText(5)}),onClose:n,onSubmit:async e=>{await s.mutateAsync({body:{percents:e.percents.map(Number)}}),i.success(r.percentsSaved)},children:(0,k.jsx)(y.Item,{name:`percents`,label:r.percentsTitle,rules:[{validator:async(e,t)=>{if(!(t.every(e=>/^[1-9]\d?$/.test(e))&&t.length<=5))throw Error(r.percentsText(5))}}],children:(0,k.jsx)(v,{mode:`tags`,open:!1,suffixIcon:null,tokenSeparators:[`,`,`，`,` `]})})})}function N({open:e,kinds:t,onClose:n,onAdded:r}){let i=c(T),{message:a}=u.useApp(),[s]=y.useForm(),l=y.useWatch(`kind`,s)??t[0],d=o(D.addAlertChannel),f=l===`dingtalk`||l===`feishu`;return(0,k.jsxs)(b,{open:e,title:i.addChannel,ok:i.sendCode,danger:!1,form:s,initial:{kind:t[0]??`dingtalk`,target:``,secret:``},onClose:n,onSubmit:async e=>{let t=await d.mutateAsync({body:e});t.sent||a.warning(i.notSent),r(t)},children:[(0,k.jsx)(y.Item,{name:`kind`,label:i.kind,children:(0,k.jsx)(v,{options:t.map(e=>({value:e,label:i[e]}))})}),(0,k.jsx)(y.Item,{name:`target`,label:l===`mail`?i.mailAddress:i.robotUrl,rules:[{required:!0,message:i.targetRule}],children:(0,k.jsx)(_,{className:`mono`,maxLength:w.targetLength})}),f&&(0,k.jsx)(y.Item,{name:`secret`,label:i.robotSecret,extra:i.robotSecretHint,children:(0,k.jsx)(_.Password,{className:`mono`,autoComplete:`off`,maxLength:200})})]})}function P({channel:e,onClose:t}){let n=c(T),{message:r}=u.useApp(),[i]=y.useForm(),a=o(D.confirmAlertChannel);return(0,k.jsx)(b,{open:e!==void 0,title:n.confirmTitle,ok:n.confirm,danger:!1,form:i,initial:{code:``},header:(0,k.jsx)(`span`,{children:n.confirmText(e?.target??``)}),onClose:t,onSubmit:async t=>{e&&(await a.mutateAsync({body:t,params:{id:e.id}}),r.success(n.confirmed))},children:(0,k.jsx)(y.Item,{name:`code`,label:n.code,rules:[{required:!0,message:n.codeRule}],children:(0,k.jsx)(_,{className:`mono`,inputMode:`numeric`,autoComplete:`one-time-code`,maxLength:w.codeLength})})})}var F=[`PHP`,`Python`,`Java`,`Node.js`,`Go`],I={PHP:`<?php
function verify_webhook(string $secret, array $headers, string $body): bool {
    $id = $headers['webhook-id'];
    $timestamp = $headers['webhook-timestamp'];
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    $key = base64_decode(substr($secret, strlen('whsec_')));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $headers['webhook-signature']) as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}
`,Python:`import base64, hashlib, hmac, time

def verify_webhook(secret: str, headers: dict, body: bytes) -> bool:
    message_id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(expected, one) for one in headers["webhook-signature"].split(" "))
`,Java:`import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Webhooks {
    static boolean verify(String secret, Map<String, String> headers, byte[] body) throws Exception {
        String timestamp = headers.get("webhook-timestamp");
        if (!timestamp.matches("\\\\d{1,12}")
                || Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(timestamp)) > 300) {
            return false;
        }
        byte[] key = Base64.getDecoder().decode(secret.substring("whsec_".length()));
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        mac.update((headers.get("webhook-id") + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
        byte[] expected = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body)))
                .getBytes(StandardCharsets.UTF_8);
        for (String signature : headers.get("webhook-signature").split(" ")) {
            if (MessageDigest.isEqual(expected, signature.getBytes(StandardCharsets.UTF_8))) {
                return true;
            }
        }
        return false;
    }
}
`,"Node.js":`import { createHmac, timingSafeEqual } from 'node:crypto'

export function verifyWebhook(secret, headers, body) {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  if (!/^\\d+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const hmac = createHmac('sha256', key).update(\`\${id}.\${timestamp}.\`).update(body)
  const expected = Buffer.from('v1,' + hmac.digest('base64'))
  return headers['webhook-signature'].split(' ').some((one) => {
    const given = Buffer.from(one)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}
`,Go:`package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

func Verify(secret string, header http.Header, body []byte) bool {
	timestamp := header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(header.Get("webhook-id") + "." + timestamp + "."))
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, signature := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(expected), []byte(signature)) {
			return true
		}
	}
	return false
}
`};function L(){let e=c(T),[t,n]=(0,O.useState)(`PHP`),r=I[t];return(0,k.jsx)(m,{title:(0,k.jsx)(`h2`,{children:e.verify}),children:(0,k.jsxs)(`div`,{className:`stack`,children:[(0,k.jsx)(`span`,{children:e.verifyText}),(0,k.jsxs)(`div`,{className:`row-between`,children:[(0,k.jsx)(`div`,{className:`scroll-x`,children:(0,k.jsx)(g,{"aria-label":e.language,value:t,onChange:n,options:[...F]})}),(0,k.jsx)(s,{text:r,label:e.verify,children:e.copyCode})]}),(0,k.jsx)(`pre`,{className:`code`,tabIndex:0,"aria-label":e.verify,children:r})]})})}function R(){let e=c(T),[n,r]=t({tab:`webhooks`,webhook:``});return(0,k.jsx)(p,{title:e.title,lead:e.lead,children:(0,k.jsx)(h,{activeKey:n.tab,onChange:e=>r({tab:e,webhook:``}),destroyOnHidden:!0,items:[{key:`webhooks`,label:e.webhooks,children:(0,k.jsxs)(`div`,{className:`stack`,children:[(0,k.jsx)(E,{onOpen:e=>r({webhook:String(e)})}),n.webhook!==``&&(0,k.jsx)(C,{webhook:n.webhook},n.webhook),(0,k.jsx)(L,{})]})},{key:`alerts`,label:e.alerts,children:(0,k.jsx)(A,{})}]})})}export{R as EventsPage};