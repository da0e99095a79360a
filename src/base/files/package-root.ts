import { existsSync } from 'node:fs';

/** The folder of the package or checkout, with a slash at its end: the nearest one with a package.json. */
export const packageRoot: URL = (() => {
  let folder = new URL('./', import.meta.url);
  while (!existsSync(new URL('package.json', folder)) && folder.pathname !== '/') {
    folder = new URL('../', folder);
  }
  return folder;
})();
