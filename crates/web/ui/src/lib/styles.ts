/**
 * The bundler asks for the style of a page only once, also when that failed: a page that came at the
 * second try would stand there bare. What did not come is asked for again; it rejects if it fails again.
 */
export async function mendStyles(): Promise<void> {
  const links = [...document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')];
  await Promise.all(links.filter(isBare).map(loadedAgain));
}

/** Some browsers give a style that failed a sheet without rules, others none. */
function isBare({ sheet }: HTMLLinkElement): boolean {
  return sheet === null || sheet.cssRules.length === 0;
}

function loadedAgain(link: HTMLLinkElement): Promise<void> {
  return new Promise((resolve, reject) => {
    const again = link.cloneNode() as HTMLLinkElement;
    again.onload = () => {
      resolve();
    };
    again.onerror = () => {
      reject(new Error(`The style ${again.href} could not be loaded.`));
    };
    link.replaceWith(again);
  });
}
