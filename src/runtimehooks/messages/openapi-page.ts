import { readFileSync } from 'node:fs';
import { withoutMarkup } from '../../base/index.ts';
import type { openApiDocument } from './openapi.ts';

/** The viewer, OpenAPI Explorer (Apache 2.0): a single file without dependencies, which the packages contain. */
const viewerFile = new URL(
  '../../../node_modules/openapi-explorer/dist/browser/openapi-explorer.min.js',
  import.meta.url,
);

/**
 * A page that shows a document: one HTML file that works without a network. Its content security policy keeps a browser
 * from loading anything, whatever the document contains.
 */
export function openApiPage(document: ReturnType<typeof openApiDocument>): string {
  const title = withoutMarkup(`${document.info.title} ${document.info.version}`);
  // A script must not contain anything that looks like its end tag or an HTML comment.
  const json = JSON.stringify(document).replaceAll('<', '\\u003c');
  const script = readFileSync(viewerFile, 'utf8').replaceAll(/<(\/script|!--)/gi, '\\x3c$1');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>body { margin: 0; font-family: system-ui, sans-serif; }</style>
<script type="module">
${script}
</script>
</head>
<body>
<openapi-explorer hide-console hide-server-selection hide-authentication></openapi-explorer>
<script id="document" type="application/json">${json}</script>
<script type="module">
await customElements.whenDefined('openapi-explorer');
await document.querySelector('openapi-explorer').loadSpec(JSON.parse(document.getElementById('document').textContent));
</script>
</body>
</html>
`;
}
