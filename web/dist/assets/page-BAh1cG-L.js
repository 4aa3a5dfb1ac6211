import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{Dn as t,En as n,Hr as r,Kn as i,Tn as a,f as o,vr as s,zr as c}from"./base-NUDmVBwH.js";import{Dt as l,Ht as u,S as d,Ut as f,wt as p}from"./frame-C0WGCeMz.js";import{M as m,j as h,k as g,l as _,m as v,s as y}from"./cards-Dv_v30z1.js";import{It as b,Mt as x,Pt as S}from"./common-DowRFGMp.js";import{l as C,n as w,r as T}from"./forms-Dhtr_enZ.js";import{h as E}from"./lists-C5LP9myV.js";import{a as D,l as O,r as k}from"./events-parts-teqEKBn5.js";var A=e(r(),1),j=c();function M(){let e=i(O),r=t(),o=n(x.alertChannels,{}),s=a(x.removeAlertChannel),[c,d]=(0,A.useState)(!1),[f,p]=(0,A.useState)(!1),[m,g]=(0,A.useState)(),[_,v]=(0,A.useState)(),y=r.data?.read_only===!1&&o.data!==void 0;return(0,j.jsxs)(h,{title:(0,j.jsx)(`h2`,{children:e.alerts}),extra:y&&(0,j.jsx)(l,{type:`primary`,onClick:()=>d(!0),children:e.addChannel}),children:[(0,j.jsxs)(`div`,{className:`stack`,children:[(0,j.jsx)(`span`,{className:`muted`,children:e.alertsText}),o.data&&(0,j.jsxs)(`span`,{className:`row`,children:[e.percents(o.data.percents),y&&(0,j.jsx)(l,{size:`small`,onClick:()=>p(!0),children:e.change})]}),(0,j.jsx)(E,{query:o,items:({items:e})=>e,rowKey:({id:e})=>e,label:e.alerts,empty:{text:e.emptyChannels},columns:[{title:e.kind,render:(t,{kind:n})=>e[n]},{title:e.target,render:(e,{target:t})=>(0,j.jsx)(`span`,{className:`mono`,children:t})},{title:e.state,card:`side`,render:(e,t)=>(0,j.jsx)(N,{channel:t})},{title:e.created,render:(e,{created_at:t})=>(0,j.jsx)(u,{at:t})},{title:``,align:`end`,render:(t,n)=>y&&(0,j.jsxs)(`span`,{className:`row`,children:[n.state===`unconfirmed`&&(0,j.jsx)(l,{size:`small`,onClick:()=>g(n),children:e.confirm}),(0,j.jsx)(l,{size:`small`,danger:!0,onClick:()=>v(n),children:e.remove})]})}]})]}),(0,j.jsx)(F,{open:c,kinds:o.data?.kinds??[],onClose:()=>d(!1),onAdded:g}),(0,j.jsx)(P,{open:f,percents:o.data?.percents??[],onClose:()=>p(!1)}),(0,j.jsx)(I,{channel:m,onClose:()=>g(void 0)}),(0,j.jsx)(w,{item:_,danger:!0,title:e.removeChannelTitle,consequence:({target:t})=>e.removeChannelText(t),ok:e.remove,done:e.removed,onClose:()=>v(void 0),onConfirm:({id:e})=>s.mutateAsync({body:{},params:{id:e}})})]})}function N({channel:e}){let t=i(O);if(e.state===`active`)return(0,j.jsx)(f,{tone:`success`,children:t.active});if(e.state===`unconfirmed`)return(0,j.jsx)(f,{tone:`warning`,children:t.unconfirmed});let n={rejected:t.rejected,failing:t.failingLong(b.disableAfterMs/s),unsubscribed:t.unsubscribed};return(0,j.jsx)(f,{tone:`error`,children:`${t.disabled} · ${n[e.disabled_reason??``]??``}`})}function P({open:e,percents:t,onClose:n}){let r=i(O),{message:o}=d.useApp(),[s]=C.useForm(),c=a(x.setAlertPercents);return(0,j.jsx)(T,{open:e,title:r.percentsTitle,ok:r.save,danger:!1,form:s,initial:{percents:t.map(String)},header:(0,j.jsx)(`span`,{children:r.percentsText(5)}),onClose:n,onSubmit:async e=>{await c.mutateAsync({body:{percents:e.percents.map(Number)}}),o.success(r.percentsSaved)},children:(0,j.jsx)(C.Item,{name:`percents`,label:r.percentsTitle,rules:[{validator:async(e,t)=>{if(!(t.every(e=>/^[1-9]\d?$/.test(e))&&t.length<=5))throw Error(r.percentsText(5))}}],children:(0,j.jsx)(_,{mode:`tags`,open:!1,suffixIcon:null,tokenSeparators:[`,`,`，`,` `]})})})}function F({open:e,kinds:t,onClose:n,onAdded:r}){let o=i(O),{message:s}=d.useApp(),[c]=C.useForm(),l=C.useWatch(`kind`,c)??t[0],u=a(x.addAlertChannel),f=l===`dingtalk`||l===`feishu`;return(0,j.jsxs)(T,{open:e,title:o.addChannel,ok:o.sendCode,danger:!1,form:c,initial:{kind:t[0]??`dingtalk`,target:``,secret:``},onClose:n,onSubmit:async e=>{let t=await u.mutateAsync({body:e});t.sent||s.warning(o.notSent),r(t)},children:[(0,j.jsx)(C.Item,{name:`kind`,label:o.kind,children:(0,j.jsx)(_,{options:t.map(e=>({value:e,label:o[e]}))})}),(0,j.jsx)(C.Item,{name:`target`,label:l===`mail`?o.mailAddress:o.robotUrl,rules:[{required:!0,message:o.targetRule}],children:(0,j.jsx)(v,{className:`mono`,maxLength:S.targetLength})}),f&&(0,j.jsx)(C.Item,{name:`secret`,label:o.robotSecret,extra:o.robotSecretHint,children:(0,j.jsx)(v.Password,{className:`mono`,autoComplete:`off`,maxLength:S.secretLength})})]})}function I({channel:e,onClose:t}){let n=i(O),{message:r}=d.useApp(),[o]=C.useForm(),s=a(x.confirmAlertChannel);return(0,j.jsx)(T,{open:e!==void 0,title:n.confirmTitle,ok:n.confirm,danger:!1,form:o,initial:{code:``},header:(0,j.jsx)(`span`,{children:n.confirmText(e?.target??``)}),onClose:t,onSubmit:async t=>{e&&(await s.mutateAsync({body:t,params:{id:e.id}}),r.success(n.confirmed))},children:(0,j.jsx)(C.Item,{name:`code`,label:n.code,rules:[{required:!0,message:n.codeRule}],children:(0,j.jsx)(v,{className:`mono`,inputMode:`numeric`,autoComplete:`one-time-code`,maxLength:S.codeLength})})})}var L=[`PHP`,`Python`,`Java`,`Node.js`,`Go`],R={PHP:`<?php
function verify_webhook(string $secret, array $headers, string $body): bool {
    $id = $headers['webhook-id'] ?? '';
    $timestamp = $headers['webhook-timestamp'] ?? '';
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    $key = base64_decode(substr($secret, strlen('whsec_')));
    if (strlen($key) < 24) {
        throw new InvalidArgumentException('the webhook secret is missing or incomplete');
    }
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $headers['webhook-signature'] ?? '') as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}
`,Python:`import base64, hashlib, hmac, time

def verify_webhook(secret: str, headers: dict, body: bytes) -> bool:
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    message_id, timestamp, signatures = (headers.get(name) or "" for name in names)
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    if len(key) < 24:
        raise ValueError("the webhook secret is missing or incomplete")
    signed = f"{message_id}.{timestamp}.".encode("utf-8", "replace") + body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    given = signatures.encode("utf-8", "replace").split(b" ")
    return any(hmac.compare_digest(expected, one) for one in given)
`,Java:`import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Webhooks {
    static boolean verify(String secret, Map<String, String> headers, byte[] body) throws Exception {
        // An absent header is the text "null", which nobody signed.
        String timestamp = String.valueOf(headers.get("webhook-timestamp"));
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
        for (String signature : String.valueOf(headers.get("webhook-signature")).split(" ")) {
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
  if (key.length < 24) throw new TypeError('the webhook secret is missing or incomplete')
  const hmac = createHmac('sha256', key).update(\`\${id}.\${timestamp}.\`).update(body)
  const expected = Buffer.from('v1,' + hmac.digest('base64'))
  return (headers['webhook-signature'] ?? '').split(' ').some((one) => {
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
	if err != nil || len(key) < 24 {
		panic("the webhook secret is missing or incomplete")
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
`};function z(){let e=i(O),[t,n]=(0,A.useState)(`PHP`),r=R[t];return(0,j.jsx)(h,{title:(0,j.jsx)(`h2`,{children:e.verify}),children:(0,j.jsxs)(`div`,{className:`stack`,children:[(0,j.jsx)(`span`,{children:e.verifyText}),(0,j.jsxs)(`div`,{className:`row-between`,children:[(0,j.jsx)(`div`,{className:`scroll-x`,children:(0,j.jsx)(y,{"aria-label":e.language,value:t,onChange:n,options:[...L]})}),(0,j.jsx)(p,{text:r,label:e.verify,children:e.copyCode})]}),(0,j.jsx)(`pre`,{className:`code`,tabIndex:0,"aria-label":e.verify,children:r})]})})}function B(){let e=i(O),[t,n]=o({tab:`webhooks`,webhook:``});return(0,j.jsx)(g,{title:e.title,lead:e.lead,children:(0,j.jsx)(m,{activeKey:t.tab,onChange:e=>n({tab:e,webhook:``}),destroyOnHidden:!0,items:[{key:`webhooks`,label:e.webhooks,children:(0,j.jsxs)(`div`,{className:`stack`,children:[(0,j.jsx)(k,{onOpen:e=>n({webhook:String(e)})}),t.webhook!==``&&(0,j.jsx)(D,{webhook:t.webhook},t.webhook),(0,j.jsx)(z,{})]})},{key:`alerts`,label:e.alerts,children:(0,j.jsx)(M,{})}]})})}export{B as EventsPage};