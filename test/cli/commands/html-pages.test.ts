import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterApiHooks, parseRelease } from '../../../src/runtimehooks/index.ts';
import { openApiDocument, openApiPage } from '../../../src/runtimehooks/messages/index.ts';
import { hostilePage } from '../../checks/rehearsal/timelines.ts';
import { needs } from '../../support/needs.ts';

/** How the browser renders the page of a rehearsal: visible boxes, and colours. */
const rehearsalProbe = `<script>
  const boxes = (selector) => [...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect());
  const marks = boxes('.mark');
  const labels = [...document.querySelectorAll('.label')].map((one) => one.textContent);
  const colour = (selector, property) => getComputedStyle(document.querySelector(selector))[property];
  const scheme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  parent.postMessage([scheme, {
    title: document.title,
    bad: document.getElementById('bad') !== null,
    labels,
    marks: marks.length,
    isVisible: marks.every(({ width, height }) => width >= 14 && height >= 14),
    apart: marks.every((one, index) => marks.slice(0, index).every((other) => Math.hypot(one.x - other.x, one.y - other.y) >= 10)),
    stretches: [...document.querySelectorAll('.stretch')].map((one) => one.textContent),
    rows: document.querySelectorAll('tr.call').length,
    ground: colour('body', 'backgroundColor'),
    ink: colour('body', 'color'),
    overflows: document.documentElement.scrollWidth > innerWidth,
  }], '*');
</script>`;

/** What a reader sees of a hook, in shadow trees, after clicking its name. */
const documentProbe = `<script type="module">
  const deep = (node) => [...node.querySelectorAll('*')].flatMap((element) =>
    [element, ...(element.shadowRoot ? deep(element.shadowRoot) : [])]);
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  await wait(2000);
  deep(document).findLast((element) => element.textContent.trim() === 'BeforeClusterUpgrade')?.click();
  await wait(2000);
  const trees = deep(document).filter((element) => element.shadowRoot);
  parent.postMessage(['document', trees.map((element) => element.shadowRoot.textContent).join(' ')], '*');
</script>`;

interface SeenRehearsal {
  labels: string[];
  marks: number;
  stretches: string[];
  ground: string;
  ink: string;
}

/** One browser for all pages: half of its CPU time is its start. */
describe('in a browser', { ...needs('chromium'), timeout: 90_000 }, () => {
  let folder: string;
  let seen: { light?: SeenRehearsal; dark?: SeenRehearsal; document?: string };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pages-'));
    const write = (name: string, page: string, probe: string) =>
      writeFileSync(
        join(folder, name),
        page.replace('</body>', () => `${probe}</body>`),
      );
    // The page's policy forbids scripts; the probe is inserted without the policy.
    write('rehearsal.html', hostilePage().replace(/<meta http-equiv[^>]*>/, ''), rehearsalProbe);
    const release = parseRelease('1.14')!;
    write(
      'document.html',
      openApiPage(openApiDocument(clusterApiHooks, { version: 'v1.14.0', release })),
      documentProbe,
    );
    // A frame has the colour scheme of the element that holds it.
    const frame = (name: string, scheme: string) =>
      `<iframe src="${name}" width="1400" height="1000" style="border: 0; color-scheme: ${scheme}"></iframe>`;
    const all = join(folder, 'all.html');
    writeFileSync(
      all,
      `<!doctype html><style>body { margin: 0 }</style><pre id="seen"></pre><script>
        const seen = {};
        addEventListener('message', ({ data: [name, value] }) => {
          seen[name] = value;
          document.getElementById('seen').textContent = encodeURIComponent(JSON.stringify(seen));
        });
      </script>${frame('rehearsal.html', 'light')}${frame('rehearsal.html', 'dark')}${frame('document.html', 'light')}`,
    );
    const { stdout } = await promisify(execFile)(
      'chromium',
      [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--window-size=1400,2100',
        `--user-data-dir=${folder}/profile`,
        '--blink-settings=preferredColorScheme=1',
        `--screenshot=${folder}/all.png`,
        '--virtual-time-budget=20000',
        '--dump-dom',
        `file://${all}`,
      ],
      { maxBuffer: 32 * 1024 * 1024, timeout: 60_000 },
    );
    seen = JSON.parse(decodeURIComponent(/<pre id="seen">([^<]*)<\/pre>/.exec(stdout)?.[1] ?? ''));
  }, 90_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('the OpenAPI document shows a hook with the fields of its messages', () => {
    expect(seen.document).toContain('BeforeClusterUpgrade');
    expect(seen.document).toContain('fromKubernetesVersion');
    expect(seen.document).toContain('Version that the upgrade ends with.');
  });

  test.each(['light', 'dark'] as const)('a rehearsal shows its lanes, marks and rows, in %s', (scheme) => {
    const page = seen[scheme]!;
    expect(page).toMatchObject({ title: 'Rehearsal', bad: false, isVisible: true, apart: true, overflows: false });
    // The simulation that could not be completed is drawn first, and is empty.
    expect(page.labels.slice(2, 7)).toEqual([
      'simulated time',
      'TopologyReconciled',
      'Control plane',
      expect.stringMatching(/^Workers </),
      'BeforeClusterUpgrade',
    ]);
    expect(page.marks).toBe(5);
    expect(page.stretches).toContain('v1.31.0');
    const channel = (colour: string) => Number(/\d+/.exec(colour)?.[0]);
    expect(channel(page.ground) > channel(page.ink)).toBe(scheme === 'light');
    expect(readFileSync(join(folder, 'all.png')).length).toBeGreaterThan(20_000);
  });
});
