import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { needs } from '../../support/needs.ts';
import { runProgram } from './io.ts';

const folder = mkdtempSync(join(tmpdir(), 'page-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** All text of a page, in shadow trees too, as soon as a click on the name of a hook has brought the fields of its messages. */
const clickHook = `async ({ contentDocument }) => {
  const deep = (node) => [...node.querySelectorAll('*')].flatMap((element) =>
    [element, ...(element.shadowRoot ? deep(element.shadowRoot) : [])]);
  const text = () => deep(contentDocument).map(({ shadowRoot }) => shadowRoot?.textContent ?? '').join(' ');
  while (!text().includes('fromKubernetesVersion')) {
    deep(contentDocument).findLast((element) => element.textContent.trim() === 'BeforeClusterUpgrade')?.click();
    await new Promise((done) => setTimeout(done, 500));
  }
  return text();
}`;

/** What a function says about a page in a frame of Chromium, where time passes as fast as it can. */
async function seenOf(page: string, look: string): Promise<unknown> {
  const file = join(folder, 'page.html');
  writeFileSync(
    file,
    `<!doctype html><body><pre></pre><script type="module">
      const srcdoc = ${JSON.stringify(page).replaceAll('<', '\\u003c')};
      const frame = Object.assign(document.createElement('iframe'), { srcdoc, width: 1400, height: 1000 });
      document.body.append(frame);
      await new Promise((done) => { frame.onload = done; });
      document.querySelector('pre').textContent = encodeURIComponent(JSON.stringify(await (${look})(frame)));
    </script></body>`,
  );
  const { stdout } = await promisify(execFile)(
    'chromium',
    [
      ...['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${folder}/profile`],
      ...['--virtual-time-budget=60000', '--dump-dom', `file://${file}`],
    ],
    { maxBuffer: 32 * 1024 * 1024, timeout: 120_000 },
  );
  return JSON.parse(decodeURIComponent(/<pre>([^<]*)<\/pre>/.exec(stdout)?.[1] ?? ''));
}

test('in a browser, the OpenAPI document shows the fields of messages', {
  ...needs('chromium'),
  timeout: 180_000,
}, async () => {
  const { stdout: page } = await runProgram(['openapi', '--output', 'html']);
  expect(await seenOf(page, clickHook)).toContain('Version that the upgrade ends with.');
});
