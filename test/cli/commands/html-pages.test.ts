import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { needs } from '../../support/needs.ts';
import { runProgram } from './io.ts';

/** The text that a script leaves in a page in Chromium, in an element `seen`; time passes there as fast as it can. */
async function seenIn(page: string, script: string, ...flags: string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'pages-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'page.html');
  const probe = `<pre id="seen"></pre><script type="module">
    const see = (text) => { document.getElementById('seen').textContent = encodeURIComponent(text); };
    ${script}
  </script>`;
  writeFileSync(
    file,
    page.replace('</body>', () => `${probe}</body>`),
  );
  const { stdout } = await promisify(execFile)(
    'chromium',
    [
      ...['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${folder}/profile`, ...flags],
      ...['--virtual-time-budget=60000', '--dump-dom', `file://${file}`],
    ],
    { maxBuffer: 32 * 1024 * 1024, timeout: 120_000 },
  );
  return decodeURIComponent(/<pre id="seen">([^<]*)<\/pre>/.exec(stdout)?.[1] ?? '');
}

/** Sees all text, in shadow trees too, as soon as a click on the name of a hook has brought the fields of its messages. */
const clickHook = `
  const deep = (node) => [...node.querySelectorAll('*')].flatMap((element) =>
    [element, ...(element.shadowRoot ? deep(element.shadowRoot) : [])]);
  const text = () => deep(document).map(({ shadowRoot }) => shadowRoot?.textContent ?? '').join(' ');
  while (!text().includes('fromKubernetesVersion')) {
    deep(document).findLast((element) => element.textContent.trim() === 'BeforeClusterUpgrade')?.click();
    await new Promise((done) => setTimeout(done, 500));
  }
  see(text());`;

describe('in a browser', { ...needs('chromium'), timeout: 180_000 }, () => {
  test('the OpenAPI document shows a hook with the fields of its messages', async () => {
    const { stdout } = await runProgram(['openapi', '--output', 'html']);
    expect(await seenIn(stdout, clickHook)).toContain('Version that the upgrade ends with.');
  });
});
