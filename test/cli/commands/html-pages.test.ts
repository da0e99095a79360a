import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import { caBundle, extensionConfig, startExtension } from '../../runtimehooks/client/extension-server.ts';
import { needs } from '../../support/needs.ts';
import { runProgram } from './io.ts';

const folder = mkdtempSync(join(tmpdir(), 'pages-'));
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

/** What is seen of a drawing: whether boxes are large enough and apart, and colours. */
const measureDrawing = `({ contentDocument, contentWindow }) => {
  const boxes = [...contentDocument.querySelectorAll('.mark circle')].map((one) => one.getBoundingClientRect());
  const colour = (property) => contentWindow.getComputedStyle(contentDocument.body)[property];
  return {
    rows: [...contentDocument.querySelectorAll('.lane, .hook')].map((one) => one.textContent),
    marks: boxes.length,
    isVisible: boxes.every(({ width, height }) => width >= 14 && height >= 14),
    isApart: boxes.every((one, index) => boxes.slice(0, index).every(({ x, y }) => Math.hypot(one.x - x, one.y - y) >= 18)),
    ground: colour('backgroundColor'),
    ink: colour('color'),
    overflows: contentDocument.documentElement.scrollWidth > contentWindow.innerWidth,
  };
}`;

/** What a function says about a page in a colour scheme. */
interface Look {
  page: string;
  scheme: 'light' | 'dark';
  look: string;
}

/** Looks at pages in one Chromium, each in a frame of its own, where time passes as fast as it can. */
async function seenOf(looks: readonly Look[]): Promise<unknown[]> {
  const frames = looks.map(
    ({ page, scheme, look }) => `await seen(${JSON.stringify(page).replaceAll('<', '\\u003c')}, '${scheme}', ${look})`,
  );
  const file = join(folder, 'pages.html');
  writeFileSync(
    file,
    `<!doctype html><body><pre></pre><script type="module">
      const seen = async (srcdoc, colorScheme, look) => {
        const frame = Object.assign(document.createElement('iframe'), { srcdoc, width: 1400, height: 1000 });
        frame.style.colorScheme = colorScheme;
        document.body.append(frame);
        await new Promise((done) => { frame.onload = done; });
        return look(frame);
      };
      document.querySelector('pre').textContent = encodeURIComponent(JSON.stringify([${frames.join(',')}]));
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
  return JSON.parse(decodeURIComponent(/<pre>([^<]*)<\/pre>/.exec(stdout)?.[1] ?? '')) as unknown[];
}

/** The page of the sample Cluster's life, with an extension that has one handler. */
let rehearsal: string;
beforeAll(async () => {
  const requestHook = { apiVersion: `${hooksGroup}/v1alpha1`, hook: 'BeforeClusterUpgrade' };
  let calls = 0;
  const server = await startExtension(({ url }) =>
    url.includes('/discovery')
      ? { status: 'Success', handlers: [{ name: 'up', requestHook }] }
      : { status: 'Success', retryAfterSeconds: calls++ === 0 ? 60 : 0 },
  );
  const file = join(folder, 'extension.yaml');
  writeFileSync(file, stringify(extensionConfig('one', { url: server.url, caBundle })));
  const args = ['rehearse', '-f', file, '--upgrade-to', 'v1.32.0', '--delete', '--output', 'html'];
  const { code, stdout } = await runProgram(args);
  await server.close();
  expect(code).toBe(0);
  rehearsal = stdout;
});

const rows = [
  ...['user', 'control plane', 'workers md-0', 'workers md-1', 'TopologyReconciled'],
  'BeforeClusterUpgrade',
];

test('the page of a rehearsal has its lanes, and below them the text', () => {
  expect(rehearsal).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
  expect([...rehearsal.matchAll(/class="(?:lane|hook)"[^>]*>([^<]*)/g)].map(([, name]) => name)).toEqual(rows);
  expect(rehearsal).toContain('The lifecycle completed');
});

test('in a browser, the OpenAPI document shows the fields of messages, and a rehearsal its lanes and marks, light and dark', {
  ...needs('chromium'),
  timeout: 180_000,
}, async () => {
  const { stdout: openapi } = await runProgram(['openapi', '--output', 'html']);
  const [text, ...drawings] = await seenOf([
    { page: openapi, scheme: 'light', look: clickHook },
    { page: rehearsal, scheme: 'light', look: measureDrawing },
    { page: rehearsal, scheme: 'dark', look: measureDrawing },
  ]);
  expect(text).toContain('Version that the upgrade ends with.');
  const channel = (colour: unknown) => Number(/\d+/.exec(String(colour))?.[0]);
  expect(
    drawings.map((drawing) => {
      const { ground, ink, ...seen } = drawing as Record<string, unknown>;
      expect(seen).toEqual({ rows, marks: 2, isVisible: true, isApart: true, overflows: false });
      return channel(ground) > channel(ink);
    }),
  ).toEqual([true, false]);
});
