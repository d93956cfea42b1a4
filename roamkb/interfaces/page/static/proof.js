// A key is made, or touched, and what the browser says of it put into a form; nothing is sent but by that form.
"use strict";

const encode = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const decode = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

async function sign(form) {
  const allowCredentials = form.dataset.credentials
    .split(" ")
    .map((id) => ({ type: "public-key", id: decode(id) }));
  const publicKey = {
    challenge: decode(form.dataset.challenge),
    rpId: "localhost",
    allowCredentials,
    userVerification: "required",
  };
  const made = await navigator.credentials.get({ publicKey });
  return {
    credential: encode(made.rawId),
    authenticator: encode(made.response.authenticatorData),
    client: encode(made.response.clientDataJSON),
    signature: encode(made.response.signature),
  };
}

async function create() {
  const publicKey = {
    challenge: crypto.getRandomValues(new Uint8Array(32)),
    rp: { id: "localhost", name: "roamkb" },
    user: { id: crypto.getRandomValues(new Uint8Array(16)), name: "roamkb", displayName: "roamkb" },
    pubKeyCredParams: [{ type: "public-key", alg: -7 }],
    authenticatorSelection: { userVerification: "required" },
    attestation: "none",
  };
  const made = await navigator.credentials.create({ publicKey });
  return { credential: encode(made.rawId), public: encode(made.response.getPublicKey()) };
}

async function onSubmit(event) {
  event.preventDefault();
  const form = event.target;
  const status = document.getElementById("status");
  try {
    const values = await (form.dataset.challenge ? sign(form) : create());
    for (const [name, value] of Object.entries(values)) form.elements[name].value = value;
    form.submit();
  } catch (error) {
    form.querySelector(".trouble").textContent = `No key was touched: ${error.name}`;
    status.textContent = `No key was touched: ${error.name}`;
  }
}

// until then the button does nothing: an empty form would answer the question
for (const form of document.querySelectorAll("form.signed")) {
  form.addEventListener("submit", onSubmit);
  form.querySelector("button").disabled = false;
}
