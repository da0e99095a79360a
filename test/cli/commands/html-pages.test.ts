import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import { caBundle, extensionConfig, startExtension } from '../../runtimehooks/client/extension-server.ts';
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

/** What is seen of a drawing: whether boxes are large enough and apart, and colours. */
const measureDrawing = `
  const boxes = [...document.querySelectorAll('.mark circle')].map((one) => one.getBoundingClientRect());
  const colour = (property) => getComputedStyle(document.body)[property];
  see(JSON.stringify({
    rows: [...document.querySelectorAll('.lane, .hook')].map((one) => one.textContent),
    marks: boxes.length,
    isVisible: boxes.every(({ width, height }) => width >= 14 && height >= 14),
    isApart: boxes.every((one, index) => boxes.slice(0, index).every(({ x, y }) => Math.hypot(one.x - x, one.y - y) >= 18)),
    ground: colour('backgroundColor'),
    ink: colour('color'),
    overflows: document.documentElement.scrollWidth > innerWidth,
  }));`;

/** The page of the sample Cluster's life, with an extension that has one handler. */
async function rehearsalPage(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'pages-'));
  const requestHook = { apiVersion: `${hooksGroup}/v1alpha1`, hook: 'BeforeClusterUpgrade' };
  let calls = 0;
  const server = await startExtension(({ url }) =>
    url.includes('/discovery')
      ? { status: 'Success', handlers: [{ name: 'up', requestHook }] }
      : { status: 'Success', retryAfterSeconds: calls++ === 0 ? 60 : 0 },
  );
  onTestFinished(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const file = join(folder, 'extension.yaml');
  writeFileSync(file, stringify(extensionConfig('one', { url: server.url, caBundle })));
  const args = ['rehearse', '-f', file, '--upgrade-to', 'v1.32.0', '--delete', '--output', 'html'];
  const { code, stdout } = await runProgram(args);
  expect(code).toBe(0);
  return stdout;
}

const rows = [
  ...['user', 'control plane', 'workers md-0', 'workers md-1', 'TopologyReconciled'],
  'BeforeClusterUpgrade',
];

test('the page of a rehearsal has its lanes, and below them the text', async () => {
  const page = await rehearsalPage();
  expect(page).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
  expect([...page.matchAll(/class="(?:lane|hook)"[^>]*>([^<]*)/g)].map(([, name]) => name)).toEqual(rows);
  expect(page).toContain('The lifecycle completed');
});

describe('in a browser', { ...needs('chromium'), timeout: 180_000 }, () => {
  test('the OpenAPI document shows a hook with the fields of its messages', async () => {
    const { stdout } = await runProgram(['openapi', '--output', 'html']);
    expect(await seenIn(stdout, clickHook)).toContain('Version that the upgrade ends with.');
  });
  test.each([
    ['light', 1],
    ['dark', 0],
  ])('a rehearsal shows its lanes and marks, in %s', async (scheme, preferred) => {
    // The page's policy forbids scripts: the probe is inserted without it.
    const page = (await rehearsalPage()).replace(/<meta http-equiv[^>]*>/, '');
    const flags = ['--window-size=1400,1000', `--blink-settings=preferredColorScheme=${preferred}`];
    const { ground, ink, ...seen } = JSON.parse(await seenIn(page, measureDrawing, ...flags)) as Record<string, string>;
    expect(seen).toEqual({ rows, marks: 2, isVisible: true, isApart: true, overflows: false });
    const channel = (colour: string | undefined) => Number(/\d+/.exec(String(colour))?.[0]);
    expect(channel(ground) > channel(ink)).toBe(scheme === 'light');
  });
});
