// Puts the secret behind the `#` into the form and sends it; nothing of it stays in the address or the history.
const secret = location.hash.slice(1);
if (secret) {
  history.replaceState(null, "", location.pathname);
  document.getElementById("secret").value = secret;
  document.getElementById("sign-in").requestSubmit();
}
