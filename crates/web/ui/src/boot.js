// Runs before the first paint, so that a dark room never sees a white flash.
(function () {
  var root = document.documentElement;
  var kept = { theme: null, density: null };
  try {
    kept.theme = localStorage.getItem('mainstay.theme');
    kept.density = localStorage.getItem('mainstay.density');
  } catch {
    // Storage is refused: the system's theme and the roomy density are fine.
  }
  var dark = kept.theme === 'dark';
  if (kept.theme !== 'dark' && kept.theme !== 'light') {
    dark = matchMedia('(prefers-color-scheme: dark)').matches;
  }
  root.dataset.theme = dark ? 'dark' : 'light';
  root.dataset.density = kept.density === 'compact' ? 'compact' : 'comfortable';
})();
