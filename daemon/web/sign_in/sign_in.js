// Puts the secret behind the `#` into the form and sends it; nothing of it stays in the address or the history.
function signIn() {
  const secret = location.hash.slice(1);
  if (!secret) return;
  history.replaceState(null, "", location.pathname);
  document.getElementById("secret").value = secret;
  document.getElementById("sign-in").requestSubmit();
}

signIn();
// A fresh address that is opened in this tab changes what is behind the `#` alone, and loads no page.
addEventListener("hashchange", signIn);
