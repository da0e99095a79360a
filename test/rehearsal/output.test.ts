import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/kubernetes/index.ts';
import type { HandlerCall } from '../../src/rehearsal/cluster/index.ts';
import { createTimeline, type Entry, htmlPage, jsonLine } from '../../src/rehearsal/index.ts';
import { plain } from '../../src/terminal/index.ts';
import { needs } from '../tools/needs.ts';

const call = (more: Partial<HandlerCall> = {}): HandlerCall => ({
  handler: 'up.one',
  status: 'Success',
  message: '',
  retryAfterSeconds: 0,
  error: '',
  isMadeUp: false,
  ...more,
});

let number = 0;
const callEntry = (at: number, hook: 'BeforeClusterUpgrade' | 'GeneratePatches', answer = call()): Entry => ({
  type: 'call',
  cluster: 'n/c',
  number: ++number,
  at,
  hook,
  call: answer,
  kubernetesVersion: undefined,
  fromKubernetesVersion: hook === 'BeforeClusterUpgrade' ? 'v1.31.0' : undefined,
  toKubernetesVersion: hook === 'BeforeClusterUpgrade' ? 'v1.32.0' : undefined,
  controlPlaneUpgrades: hook === 'BeforeClusterUpgrade' ? ['v1.32.0'] : undefined,
  workersUpgrades: undefined,
  machine: undefined,
  pendingHooks: '',
});
const event = (at: number, what: Extract<Entry, { type: 'event' }>['event']): Entry => ({
  type: 'event',
  cluster: 'n/c',
  at,
  event: what,
});
const blocked = call({ retryAfterSeconds: 5400, message: 'backups run' });
const object = (image: string): JsonObject => ({ kind: 'T', spec: { image } });

const life: Entry[] = [
  event(0, { kind: 'user', text: 'sets spec.topology.version to v1.32.0', flag: '→ v1.32.0' }),
  event(0, { kind: 'control-plane', state: 'ready', version: 'v1.31.0', name: 'c-x' }),
  callEntry(0, 'BeforeClusterUpgrade', blocked),
  event(0, {
    kind: 'condition',
    status: 'False',
    reason: 'ClusterUpgrading',
    message:
      'Cluster is upgrading to v1.32.0\n  * Following hooks are blocking upgrade: BeforeClusterUpgrade: backups run',
  }),
  callEntry(5_400_000, 'BeforeClusterUpgrade', blocked),
  callEntry(10_800_000, 'BeforeClusterUpgrade', blocked),
  callEntry(16_200_000, 'BeforeClusterUpgrade'),
  event(16_200_000, { kind: 'pending-hooks', hooks: 'AfterClusterUpgrade' }),
  callEntry(16_200_000, 'GeneratePatches'),
  callEntry(16_201_000, 'GeneratePatches'),
  event(16_201_000, {
    kind: 'templates',
    changes: [
      {
        holder: 'Cluster n/c spec.controlPlaneRef',
        template: 'T t',
        before: object('a'),
        after: object('b'),
        ignored: ['/metadata/name'],
      },
    ],
  }),
  event(16_201_000, { kind: 'control-plane', state: 'upgrading', version: 'v1.32.0', name: 'c-x' }),
  event(16_381_000, { kind: 'control-plane', state: 'ready', version: 'v1.32.0', name: 'c-x' }),
  { type: 'end', cluster: 'n/c', at: 16_381_000, isComplete: true, reason: '', calls: 6 },
];

test('text: a line a call, runs counted, conditions in the words of Cluster API', () => {
  const timeline = createTimeline(plain);
  expect(life.map((entry) => timeline.add(entry)).join('')).toBe(`\
  0:00:00  the user sets spec.topology.version to v1.32.0
  0:00:00  control plane c-x is at v1.31.0
  0:00:00  BeforeClusterUpgrade        v1.31.0 → v1.32.0   blocked for 1h30m: backups run  (up.one)
           still to come: control plane v1.32.0
           TopologyReconciled False ClusterUpgrading: Cluster is upgrading to v1.32.0
             * Following hooks are blocking upgrade: BeforeClusterUpgrade: backups run
           … and 2 more like it, until 3:00:00
  4:30:00  BeforeClusterUpgrade        v1.31.0 → v1.32.0   passed  (up.one)
           pending hooks: AfterClusterUpgrade
  4:30:00  GeneratePatches                                 passed  (up.one)
  4:30:01  1 template is patched
           T t (Cluster n/c spec.controlPlaneRef)
             @ line 1, now 1
              kind: T
              spec:
             -  image: a
             +  image: b
             ! Cluster API does not take over the change of /metadata/name
  4:30:01  control plane c-x upgrades to v1.32.0
  4:33:01  control plane c-x is at v1.32.0
  The lifecycle completed: 4:33:01 of simulated time, 6 calls
  4 BeforeClusterUpgrade, 2 GeneratePatches
`);
});

test('text: nothing that a terminal would obey', () => {
  const timeline = createTimeline(plain);
  const hostile = '\u001b]0;x\u0007\r\n\u202e';
  const text = [
    callEntry(0, 'BeforeClusterUpgrade', call({ message: hostile, handler: hostile })),
    callEntry(0, 'BeforeClusterUpgrade', call({ status: 'Failure', error: hostile })),
    event(0, { kind: 'condition', status: 'False', reason: 'ReconcileFailed', message: hostile }),
    event(0, { kind: 'worker', state: 'ready', version: hostile, name: hostile, group: hostile }),
    event(0, { kind: 'plan', controlPlane: [hostile], workers: [hostile] }),
    event(0, { kind: 'finding', severity: 'error', text: hostile, remedy: hostile }),
    event(0, {
      kind: 'templates',
      changes: [
        { holder: hostile, template: hostile, before: object('a'), after: object(hostile), ignored: [hostile] },
      ],
    }),
    { type: 'end' as const, cluster: 'n/c', at: 0, isComplete: false, reason: hostile, calls: 1 },
  ]
    .map((entry) => timeline.add(entry))
    .join('');
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
});

test('json: a record a call, and one for the end', () => {
  const lines = life
    .map(jsonLine)
    .filter((line) => line !== undefined)
    .map((line) => JSON.parse(line));
  expect(lines).toHaveLength(7);
  expect(lines[0]).toEqual({
    cluster: 'n/c',
    call: expect.any(Number),
    seconds: 0,
    hook: 'BeforeClusterUpgrade',
    handler: 'up.one',
    fromKubernetesVersion: 'v1.31.0',
    toKubernetesVersion: 'v1.32.0',
    controlPlaneUpgrades: ['v1.32.0'],
    status: 'Success',
    retryAfterSeconds: 5400,
    message: 'backups run',
    pendingHooks: '',
  });
  expect(lines.at(-1)).toEqual({ cluster: 'n/c', seconds: 16381, end: 'complete', calls: 6 });
});

describe('the page', () => {
  const hostile = `</script></style></svg><img src=x onerror="document.title='caught'"><b id=bad>'"&`;
  const page = htmlPage([
    ...life,
    callEntry(16_382_000, 'BeforeClusterUpgrade', call({ status: 'Failure', error: hostile, handler: hostile })),
    event(16_382_000, { kind: 'worker', state: 'ready', version: hostile, name: hostile, group: hostile }),
    event(16_382_000, { kind: 'user', text: hostile, flag: hostile }),
    event(16_382_000, { kind: 'condition', status: 'False', reason: hostile, message: hostile }),
    event(16_382_000, { kind: 'fault', text: hostile }),
    event(16_382_000, {
      kind: 'templates',
      changes: [
        { holder: hostile, template: hostile, before: object('a'), after: object(hostile), ignored: [hostile] },
      ],
    }),
    { type: 'end', cluster: hostile, at: 0, isComplete: false, reason: hostile, calls: 1 },
  ]);

  test('has nothing from outside that a browser would obey, and loads nothing', () => {
    expect(page).not.toContain('<img');
    expect(page).not.toContain('<b id');
    expect(page).not.toMatch(/https?:|<script|url\((?!#hatch)/);
    expect(page).toContain("default-src 'none'");
  });

  test('draws a run of the same answers as two marks, the second with their number', () => {
    expect(page).toContain('>×2</text>');
    const many = Array.from({ length: 900 }, (_, index) => callEntry(index * 1000, 'BeforeClusterUpgrade', blocked));
    const text = htmlPage([
      ...many,
      { type: 'end', cluster: 'n/c', at: 900_000, isComplete: false, reason: '', calls: 900 },
    ]);
    expect(text.match(/class="mark /g)).toHaveLength(2);
    expect(text).toContain('>×899</text>');
  });

  test('ends a drawing of very many calls', () => {
    const many = Array.from({ length: 3000 }, (_, index) =>
      callEntry(index * 1000, 'BeforeClusterUpgrade', call({ retryAfterSeconds: 1, message: String(index) })),
    );
    const text = htmlPage([...many, { type: 'end', cluster: 'n/c', at: 0, isComplete: true, reason: '', calls: 3000 }]);
    expect(text).toContain('The drawing ends after 400 calls');
    expect(text.length).toBeLessThan(3_000_000);
  });

  test('shows its lanes, marks and rows in a browser, in light and dark', {
    ...needs('chromium'),
    timeout: 90_000,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rehearsal-page-'));
    try {
      // What the browser made of the page: boxes that are on the screen, and colours. The page's policy forbids scripts; the
      // probe comes without it.
      const probe = `<script>
        const boxes = (selector) => [...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect());
        const marks = boxes('.mark');
        const labels = [...document.querySelectorAll('.label')].map((one) => one.textContent);
        const colour = (selector, property) => getComputedStyle(document.querySelector(selector))[property];
        parent.postMessage({
          title: document.title,
          bad: document.getElementById('bad') !== null,
          labels,
          marks: marks.length,
          isVisible: marks.every(({ width, height }) => width >= 14 && height >= 14),
          apart: marks.every((one, index) => marks.slice(0, index).every((other) => Math.hypot(one.x - other.x, one.y - other.y) >= 10)),
          stretches: [...document.querySelectorAll('.stretch text')].map((one) => one.textContent),
          rows: document.querySelectorAll('tr.call').length,
          scheme: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
          ground: colour('body', 'backgroundColor'),
          ink: colour('body', 'color'),
          overflows: document.documentElement.scrollWidth > innerWidth,
        }, '*');
      </script>`;
      writeFileSync(
        join(folder, 'page.html'),
        page.replace(/<meta http-equiv[^>]*>/, '').replace('</body>', () => `${probe}</body>`),
      );
      // A frame has the colour scheme of the element that holds it, which spares a second browser.
      const frame = (scheme: string) =>
        `<iframe src="page.html" width="1400" height="1000" style="border: 0; color-scheme: ${scheme}"></iframe>`;
      const file = join(folder, 'both.html');
      writeFileSync(
        file,
        `<!doctype html><style>body { margin: 0 }</style><pre id="seen"></pre><script>
          const seen = [];
          addEventListener('message', ({ data }) => {
            seen.push(data);
            document.getElementById('seen').textContent = JSON.stringify(seen);
          });
        </script>${frame('light')}${frame('dark')}`,
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
          `--screenshot=${folder}/both.png`,
          '--virtual-time-budget=5000',
          '--dump-dom',
          `file://${file}`,
        ],
        { maxBuffer: 32 * 1024 * 1024, timeout: 40_000 },
      );
      const text = /<pre id="seen">([^<]*)<\/pre>/.exec(stdout)?.[1] ?? '[]';
      const both = JSON.parse(text.replaceAll('&gt;', '>').replaceAll('&lt;', '<').replaceAll('&amp;', '&'));
      expect(both).toHaveLength(2);
      for (const scheme of ['light', 'dark']) {
        const seen = both.find((one: { scheme: string }) => one.scheme === scheme);
        expect(seen).toMatchObject({
          title: 'Rehearsal',
          bad: false,
          scheme,
          isVisible: true,
          apart: true,
          overflows: false,
        });
        // The life that could not be completed is drawn first, and is empty.
        expect(seen.labels.slice(2, 7)).toEqual([
          'simulated time',
          'TopologyReconciled',
          'Control plane',
          expect.stringMatching(/^Workers </),
          'BeforeClusterUpgrade',
        ]);
        expect(seen.marks).toBe(5);
        expect(seen.stretches).toContain('v1.31.0');
        const channel = (colour: string) => Number(/\d+/.exec(colour)?.[0]);
        expect(channel(seen.ground) > channel(seen.ink)).toBe(scheme === 'light');
      }
      expect(readFileSync(join(folder, 'both.png')).length).toBeGreaterThan(20_000);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
