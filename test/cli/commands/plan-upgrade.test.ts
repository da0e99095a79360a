import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { copyOf, type Json, type JsonObject, objectAt, textAt } from '../../../src/kubernetes/index.ts';
import type { Plan } from '../../../src/topology/index.ts';
import { manifests, patch } from '../../topology/small-class.ts';
import { runProgram } from './io.ts';
import { list, named } from './planning.ts';

const folder = mkdtempSync(join(tmpdir(), 'plan-upgrade-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The plan of an upgrade of Cluster API alone, over objects that stay as they are. */
async function upgraded(objects: readonly JsonObject[], from: string, to: string, ...more: string[]) {
  const file = join(folder, 'all.json');
  writeFileSync(file, list(objects));
  const args = ['plan', '-f', file, '--cluster-api-version', from, '--to-cluster-api-version', to, ...more];
  const { code, stdout, stderr } = await runProgram(args);
  const plan = JSON.parse((await runProgram([...args, '-o', 'json'])).stdout) as Plan;
  const verdicts = plan.clusters.flatMap(({ groups }) => groups.map(({ group, verdict }) => `${group} ${verdict}`));
  return { code, stdout: stdout.replaceAll(/\n +/g, ' '), last: stdout.split('\n').at(-2), stderr, plan, verdicts };
}

/** The small class with a patch of the labels of a template, which releases before v1.14 drop. */
function withLabels(): JsonObject[] {
  const all = manifests();
  all.clusterClass.spec.patches = [patch('meta', 'metadata', { value: { labels: { a: 'b' } } })];
  return Object.values(all) as unknown as JsonObject[];
}

/** A real Cluster, of whose joined control plane Machines one has a KubeadmConfig without joinConfiguration.controlPlane. */
function withoutControlPlane(): JsonObject[] {
  const objects = named('audit-level').before.map((object) => copyOf(object as Json) as JsonObject);
  const config = objects.find(
    (object) =>
      object.kind === 'KubeadmConfig' &&
      objectAt(object, 'spec', 'joinConfiguration').controlPlane !== undefined &&
      objectAt(object, 'metadata', 'labels')['cluster.x-k8s.io/control-plane'] !== undefined,
  );
  delete objectAt(config, 'spec', 'joinConfiguration').controlPlane;
  return objects;
}

describe('an upgrade of Cluster API alone', () => {
  test.each([
    ['v1.12', 'v1.13'],
    ['v1.13', 'v1.14'],
    ['v1.12', 'main'],
  ])('from %s to %s replaces nothing of a real Cluster', async (from, to) => {
    const { code, last, verdicts } = await upgraded(named('audit-level').before, from, to, '--fail-on', 'change');
    expect(verdicts.length).toBeGreaterThan(1);
    expect(verdicts.every((verdict) => verdict.endsWith(' unchanged'))).toBe(true);
    expect(last).toMatch(/^0 of \d+ Machines are replaced$/);
    expect(code).toBe(0);
  });

  test('replaces Machines whose template has a patch that the new release does not drop', async () => {
    const { code, stdout, last, verdicts } = await upgraded(withLabels(), 'v1.13', 'v1.14', '--fail-on', 'replace');
    expect(verdicts).toEqual(['control-plane unchanged', 'md replaced']);
    expect(stdout).toContain('spec.template.metadata (patch meta)');
    expect(stdout.match(/! read otherwise since[^!]*take effect/g)).toEqual([
      '! read otherwise since v1.14: patches of labels and annotations of templates take effect',
    ]);
    expect(stdout).not.toContain('upgrade step');
    expect(last).toBe('2 of 5 Machines are replaced');
    expect(code).toBe(1);
  });

  test('replaces a Machine that the new release takes for the first one', async () => {
    const { verdicts, plan, stdout } = await upgraded(withoutControlPlane(), 'v1.11', 'v1.12');
    expect(verdicts[0]).toBe('control-plane replaced');
    const [group] = plan.clusters[0]?.groups ?? [];
    expect(group).toMatchObject({ machines: { replaced: 1 } });
    expect(group?.causes.map(({ field }) => field).join(' ')).toContain('spec.kubeadmConfigSpec.initConfiguration');
    expect(stdout).toContain('cluster-api 14167');
  });

  test.each([
    ['v1.11.9', 'v1.13.5', 'control-plane replaced', 'since v1.12'],
    ['v1.11.9', 'v1.13.6', 'control-plane unchanged', undefined],
    ['v1.11.9', 'v1.14.1', 'control-plane unchanged', undefined],
  ])('counts patch releases: from %s to %s', async (from, to, verdict, since) => {
    const { verdicts, stdout } = await upgraded(withoutControlPlane(), from, to);
    expect(verdicts[0]).toBe(verdict);
    expect(stdout.includes('14167')).toBe(since !== undefined);
    expect(stdout).toContain(since ?? 'Machines are replaced');
  });

  test('an upgrade within a minor is one', async () => {
    const { verdicts, stdout } = await upgraded(withoutControlPlane(), 'v1.13.5', 'v1.13.6');
    expect(verdicts[0]).toBe('control-plane unchanged');
    expect(stdout).not.toContain('not up to date already');
    const file = join(folder, 'all.json');
    const args = ['plan', '-f', file, '--cluster-api-version', 'v1.13.6', '--to-cluster-api-version', 'v1.13.5'];
    expect((await runProgram(args)).stderr).toContain('v1.13.5 is not newer than v1.13.6');
  });

  test('does not say it of later releases, which read it the same', async () => {
    const { verdicts, stdout } = await upgraded(withoutControlPlane(), 'v1.12', 'v1.13');
    expect(verdicts[0]).toBe('control-plane unchanged');
    expect(stdout).toContain('is not up to date already');
  });
});

describe('usage errors', () => {
  test.each([
    [['--to-cluster-api-version', 'v1.14'], 'name the release before the upgrade with --cluster-api-version'],
    [
      ['--to-cluster-api-version', 'v1.13', '--cluster-api-version', 'v1.14'],
      'v1.13 is not newer than v1.14: downgrades are not planned',
    ],
    [['--to-cluster-api-version', 'v1.99', '--cluster-api-version', 'v1.14'], 'known are the releases'],
  ])('%j', async (args, message) => {
    const file = join(folder, 'usage.json');
    writeFileSync(file, list(withLabels()));
    const { code, stderr } = await runProgram(['plan', '-f', file, ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(textAt({ stderr }, 'stderr')).not.toContain('    at ');
  });
});
