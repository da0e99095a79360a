import { describe, expect, test } from 'vitest';
import { plain } from '../../../src/base/index.ts';
import { createTimeline, type Entry, htmlPage, jsonLine } from '../../../src/checks/rehearsal/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { hooks } from '../../../src/runtimehooks/index.ts';
import { blocked, call, callEntry, event, hostilePage, object, simulation } from './timelines.ts';

test("text: a line per call, identical calls counted, conditions in Cluster API's words", () => {
  const timeline = createTimeline(plain);
  expect(simulation.map((entry) => timeline.add(entry)).join('')).toBe(`\
  0:00:00  the user sets spec.topology.version to v1.32.0
  0:00:00  control plane c-x is at v1.31.0
  0:00:00  BeforeClusterUpgrade         v1.31.0 → v1.32.0   blocked for 1h30m: backups run  (up.one)
           still to come: control plane v1.32.0
           TopologyReconciled False ClusterUpgrading: Cluster is upgrading to v1.32.0
             * Following hooks are blocking upgrade: BeforeClusterUpgrade: backups run
           … and 2 more like it, until 3:00:00
  4:30:00  BeforeClusterUpgrade         v1.31.0 → v1.32.0   passed  (up.one)
           pending hooks: AfterClusterUpgrade
  4:30:00  GeneratePatches                                  passed  (up.one)
  4:30:01  1 template is patched
           T t (Cluster n/c spec.controlPlaneRef)
             @ line 1, now 1
              kind: T
              spec:
             -  image: a
             +  image: b
             ! Cluster API ignores the change to /metadata/name
  4:30:01  control plane c-x upgrades to v1.32.0
  4:33:01  control plane c-x is at v1.32.0
  The lifecycle completed: 4:33:01 of simulated time, 6 calls
  4 BeforeClusterUpgrade, 2 GeneratePatches
`);
});

test('text: the versions of all hooks begin in the same column', () => {
  const columns = Object.keys(hooks).map((hook) => {
    const entry = { ...callEntry(0, 'BeforeClusterUpgrade'), hook } as Entry;
    return createTimeline(plain).add(entry).indexOf('v1.31.0');
  });
  expect(new Set(columns).size).toBe(1);
});

test('text: contains no terminal control characters', () => {
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
      isFirst: true,
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

describe('templates', () => {
  const shown = (before: JsonObject, after: JsonObject, isFirst = false) => {
    const changes = [{ holder: 'h', template: 'T t', before, after, ignored: [] }];
    return createTimeline(plain).add(event(0, { kind: 'templates', isFirst, changes }));
  };

  test('whose patches change with the version', () => {
    expect(shown(object('a'), object('b'))).toBe(`\
  0:00:00  1 template is patched differently
           T t (h)
             @ line 1, now 1
              kind: T
              spec:
             -  image: a
             +  image: b
`);
  });

  test('are shown without secrets, also if only a secret changes', () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${'c2VjcmV0'.repeat(4)}\n-----END PRIVATE KEY-----\n`;
    const secret = { kind: 'T', spec: { user: 'a', password: 'hunter22', files: [`# the key\n${key}last: line\n`] } };
    expect(shown({ kind: 'T' }, secret, true)).toBe(`\
  0:00:00  1 template is patched
           T t (h)
             @ line 1, now 1
              kind: T
             +spec:
             +  user: a
             +  password: (not shown)
             +  files:
             +    - |
             +      # the key
             +      (not shown)
             +      (not shown)
             +      (not shown)
             +      last: line
`);
    expect(shown(secret, { kind: 'T', spec: { ...secret.spec, password: 'another1' } })).toContain(
      '\n              only values that are not shown here\n',
    );
  });

  test('with very many values are shown as operations', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`key${index}`, index]));
    const text = shown({ kind: 'T', spec: {} }, { kind: 'T', spec: { many, token: 'abcdefgh' } }, true);
    expect(text).toContain(' add /spec/many: {"key0":0,"key1":1,');
    expect(text).toContain(' add /spec/token: "(not shown)\n');
    expect(text.length).toBeLessThan(1000);
  });
});

test('json: a record per call and per change of the condition, and one for the end', () => {
  const lines = simulation
    .map(jsonLine)
    .filter((line) => line !== undefined)
    .map((line) => JSON.parse(line));
  expect(lines).toHaveLength(8);
  expect(lines[1]).toEqual({
    cluster: 'n/c',
    seconds: 0,
    condition: {
      type: 'TopologyReconciled',
      status: 'False',
      reason: 'ClusterUpgrading',
      message:
        'Cluster is upgrading to v1.32.0\n  * Following hooks are blocking upgrade: BeforeClusterUpgrade: backups run',
    },
  });
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
  const page = hostilePage();

  test('contains no markup from outside, and loads nothing', () => {
    expect(page).not.toContain('<img');
    expect(page).not.toContain('<b id');
    expect(page).not.toMatch(/https?:|<script|url\(/);
    expect(page).toContain("default-src 'none'");
  });

  test('draws a run of identical answers as two marks, the second with the count', () => {
    expect(page).toContain('>×2</span>');
    const many = Array.from({ length: 900 }, (_, index) => callEntry(index * 1000, 'BeforeClusterUpgrade', blocked));
    const text = htmlPage([
      ...many,
      { type: 'end', cluster: 'n/c', at: 900_000, isComplete: false, reason: '', calls: 900 },
    ]);
    expect(text.match(/class="mark /g)).toHaveLength(2);
    expect(text).toContain('>×899</span>');
    expect(text).toContain('… and 899 more like it, until 0:14:59');
  });

  test('links each mark to its row in the table', () => {
    const text = htmlPage(simulation);
    const links = [...text.matchAll(/<a href="#([^"]+)" class="mark/g)].map(([, id]) => id);
    expect(links).toHaveLength(4);
    for (const id of links) {
      expect(text).toContain(`<tr id="${id}"`);
    }
  });

  test('stops drawing after a maximum number of calls', () => {
    const many = Array.from({ length: 3000 }, (_, index) =>
      callEntry(index * 1000, 'BeforeClusterUpgrade', call({ retryAfterSeconds: 1, message: String(index) })),
    );
    const text = htmlPage([...many, { type: 'end', cluster: 'n/c', at: 0, isComplete: true, reason: '', calls: 3000 }]);
    expect(text).toContain('The drawing ends after 400 calls');
    expect(text.length).toBeLessThan(3_000_000);
  });
});

describe('machines', () => {
  const condition = {
    kind: 'object-condition',
    object: 'Machine c-md-0-x',
    type: 'Updating',
    status: 'True',
    reason: 'InPlaceUpdating',
    message: 'In-place update in progress',
  } as const;
  const entries = [
    event(1000, { kind: 'machine', state: 'creating', name: 'c-md-0-x' }),
    event(1000, condition),
    event(2000, { kind: 'machine', state: 'gone', name: 'c-md-0-x' }),
  ];

  test('text', () => {
    const timeline = createTimeline(plain);
    expect(entries.map((entry) => timeline.add(entry)).join('')).toBe(`\
  0:00:01  Machine c-md-0-x is created
           Machine c-md-0-x Updating True InPlaceUpdating: In-place update in progress
  0:00:02  Machine c-md-0-x is gone
`);
  });

  test('json: only their conditions, with the object', () => {
    const { type, status, reason, message, object: name } = condition;
    expect(entries.map((entry) => jsonLine(entry))).toEqual([
      undefined,
      `${JSON.stringify({ cluster: 'n/c', seconds: 1, object: name, condition: { type, status, reason, message } })}\n`,
      undefined,
    ]);
  });

  test('html: in the table', () => {
    expect(htmlPage(entries)).toContain('Machine c-md-0-x Updating True InPlaceUpdating');
  });
});
