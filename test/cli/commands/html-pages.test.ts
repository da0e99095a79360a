import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { clusterApiHooks, parseRelease } from '../../../src/runtimehooks/index.ts';
import { openApiDocument, openApiPage } from '../../../src/runtimehooks/messages/index.ts';
import { needs } from '../../support/needs.ts';

/** What a reader sees of a hook, in shadow trees, after clicking its name. */
const documentProbe = `<script type="module">
  const deep = (node) => [...node.querySelectorAll('*')].flatMap((element) =>
    [element, ...(element.shadowRoot ? deep(element.shadowRoot) : [])]);
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  await wait(2000);
  deep(document).findLast((element) => element.textContent.trim() === 'BeforeClusterUpgrade')?.click();
  await wait(2000);
  const trees = deep(document).filter((element) => element.shadowRoot);
  const seen = document.createElement('pre');
  seen.id = 'seen';
  seen.textContent = encodeURIComponent(trees.map((element) => element.shadowRoot.textContent).join(' '));
  document.body.append(seen);
</script>`;

describe('in a browser', { ...needs('chromium'), timeout: 90_000 }, () => {
  test('the OpenAPI document shows a hook with the fields of its messages', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pages-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const page = openApiPage(
      openApiDocument(clusterApiHooks, { version: 'v1.14.0', release: parseRelease('1.14')! }),
    ).replace('</body>', () => `${documentProbe}</body>`);
    const file = join(folder, 'document.html');
    writeFileSync(file, page);
    const { stdout } = await promisify(execFile)(
      'chromium',
      [
        ...['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${folder}/profile`],
        ...['--virtual-time-budget=20000', '--dump-dom', `file://${file}`],
      ],
      { maxBuffer: 32 * 1024 * 1024, timeout: 60_000 },
    );
    const seen = decodeURIComponent(/<pre id="seen">([^<]*)<\/pre>/.exec(stdout)?.[1] ?? '');
    expect(seen).toContain('BeforeClusterUpgrade');
    expect(seen).toContain('fromKubernetesVersion');
    expect(seen).toContain('Version that the upgrade ends with.');
  });
});
