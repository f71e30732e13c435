// Passkeys: the browser makes one, or signs with one, and the form is sent with what it returned.
//
// Never sends a form without it, and never asks for a passkey before a button is pressed.

import { announce, on, send } from "./page.js";

const ALGORITHMS = [-8, -7];
const WAIT_MS = 120_000;

const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const words = (attribute) => attribute.split(" ").filter(Boolean);

async function sign(challenge, form) {
  const { id, rawId, response } = await navigator.credentials.get({
    publicKey: {
      challenge: bytes(challenge),
      rpId: form.dataset.rp,
      allowCredentials: words(form.dataset.keys).map((key) => ({ type: "public-key", id: bytes(key) })),
      userVerification: "required",
      timeout: WAIT_MS,
    },
  });
  return {
    challenge,
    credential: text(rawId ?? bytes(id)),
    authenticator: text(response.authenticatorData),
    client: text(response.clientDataJSON),
    signature: text(response.signature),
  };
}

async function make(form) {
  const { rawId, response } = await navigator.credentials.create({
    publicKey: {
      challenge: bytes(form.dataset.makes),
      rp: { id: form.dataset.rp, name: "Placet" },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name: form.elements.name.value, displayName: form.elements.name.value },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key", alg })),
      authenticatorSelection: { userVerification: "required", residentKey: "preferred" },
      timeout: WAIT_MS,
    },
  });
  return { credential: text(rawId), key: text(response.getPublicKey()), client: text(response.clientDataJSON) };
}

function tellFailure(form) {
  const place = form.querySelector("p");
  place.textContent = form.dataset.failed;
  announce(form.dataset.failed);
}

let busy = false;

on(
  "submit",
  async (event) => {
    const { target: form, submitter } = event;
    if (!form.dataset.signs && !form.dataset.makes) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (busy) return;
    busy = true;
    try {
      if (form.dataset.makes) {
        form.elements.credential.value = JSON.stringify(await make(form));
      } else {
        const signed = [];
        for (const challenge of words(form.dataset.signs)) signed.push(await sign(challenge, form));
        form.elements.assertions.value = JSON.stringify(signed);
      }
      if (form.getAttribute("action")) form.submit();
      else await send(form, submitter);
    } catch {
      tellFailure(form);
    } finally {
      busy = false;
    }
  },
  true,
);

/** Shows the buttons that only a script can answer. */
export function follow() {
  for (const button of document.querySelectorAll("form[data-signs] button[hidden], form[data-makes] button[hidden]")) button.hidden = false;
}
