// Shows that the daemon is away in place of the browser's own error.
//
// Never keeps an answer, and never changes one: nothing but the page below is in it.

const AWAY = "{page}";
const POLICY = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

addEventListener("install", () => skipWaiting());

addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.mode === "navigate" && request.method === "GET") event.respondWith(open(request));
});

async function open(request) {
  try {
    const answer = await fetch(request);
    // A browser that is signed out has no use for it.
    if (answer.status === 401) registration.unregister();
    return answer;
  } catch {
    return new Response(AWAY, { status: 503, headers: { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": POLICY, "Cache-Control": "no-store" } });
  }
}
