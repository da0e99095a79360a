import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { copyOf, type Json, type JsonObject, objectAt } from '../../../src/kubernetes/index.ts';
import { recordedChanges } from '../../topology/recorded.ts';
import { runProgram } from './io.ts';
import { list, named } from './planning.ts';

const folder = mkdtempSync(join(tmpdir(), 'plan-explains-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What `plan` says of a state without a change, in one line, and its exit code. */
async function explained(name: string, change: (objects: JsonObject[]) => void = () => {}) {
  const objects = named(name).before.map((object) => copyOf(object as Json) as JsonObject);
  change(objects);
  const file = join(folder, 'state.json');
  writeFileSync(file, list(objects));
  const { stdout, code } = await runProgram(['plan', '--from', file]);
  return { text: stdout.replaceAll(/\s+/g, ' '), code };
}

const ofKind = (objects: readonly JsonObject[], kind: string) => objects.filter((object) => object.kind === kind);
const annotationsOf = (object: JsonObject | undefined) => objectAt(object, 'metadata', 'annotations');

/** The infrastructure of a control plane's Machine. */
const ofControlPlane = (objects: JsonObject[]) =>
  ofKind(objects, 'DevMachine').find(
    (object) => objectAt(object, 'metadata', 'labels')['cluster.x-k8s.io/control-plane'] !== undefined,
  );

test('plan without a change says how far each group is, in both versions of a status', async () => {
  const { text } = await explained('audit-level', (objects) => {
    const [controlPlane] = ofKind(objects, 'KubeadmControlPlane');
    const [group] = ofKind(objects, 'MachineDeployment');
    Object.assign(controlPlane ?? {}, {
      status: { version: 'v1.33.9', readyReplicas: 9, v1beta2: { readyReplicas: 2, upToDateReplicas: 1 } },
    });
    Object.assign(group ?? {}, { status: { readyReplicas: 1, updatedReplicas: 2 } });
  });
  expect(text).toMatch(
    /control plane KubeadmControlPlane \S+ unchanged v1\.33\.9, 2 of 3 Machines ready, 1 up to date /,
  );
  expect(text).toMatch(/MachineDeployment \S+ unchanged v1\.3\d\.\d+, 1 of 2 Machines ready, 2 up to date /);
});

describe('plan without a change says why Machines do not roll', () => {
  test('a template that changed under its name', async () => {
    const { text, code } = await explained('F-md-bootstrap-rotated');
    expect(text).toContain(
      '! 2 Machines (f2-md-mtwct-z86cj and f2-md-mtwct-zmcdw) are unlike KubeadmConfigTemplate default/f2-w, which changed under its name: that replaces nothing: refer to a template of another name, or set spec.rollout.after',
    );
    expect(text).toContain('spec.template.spec.preKubeadmCommands');
    expect(text).toContain('0 of 5 Machines are replaced');
    expect(code).toBe(0);
  });

  test('an annotation that is missing', async () => {
    const { text } = await explained('audit-level', (objects) => {
      const machine = ofControlPlane(objects);
      for (const part of ['name', 'groupkind']) {
        delete annotationsOf(machine)[`cluster.x-k8s.io/cloned-from-${part}`];
      }
      objectAt(machine, 'spec').backend = { docker: {} };
    });
    expect(text).toMatch(
      /! 1 Machine \(\S+\) is unlike DevMachineTemplate default\/\S+, which does not count without the annotation cluster\.x-k8s\.io\/cloned-from-name/,
    );
  });

  test('another content, with the annotation: the template changed', async () => {
    const { text } = await explained('audit-level', (objects) => {
      objectAt(ofControlPlane(objects), 'spec').backend = { docker: {} };
    });
    expect(text).toMatch(/! 1 Machine \(\S+\) is unlike DevMachineTemplate default\/\S+, which changed under its name/);
  });

  test('a controller that has not seen the newest change', async () => {
    const { text } = await explained('audit-level', (objects) => {
      const [group] = ofKind(objects, 'MachineDeployment');
      objectAt(group, 'metadata').generation = 7;
      Object.assign(group ?? {}, { status: { ...objectAt(group, 'status'), observedGeneration: 6 } });
    });
    expect(text).toMatch(
      /! the controller of MachineDeployment default\/\S+ has not seen its newest change yet \(observedGeneration 6 of 7\)/,
    );
  });

  test('OnDelete, and a Cluster that is paused', async () => {
    const change = (more: (objects: JsonObject[]) => void) => (objects: JsonObject[]) => {
      for (const machine of ofKind(objects, 'MachineSet')) {
        objectAt(machine, 'spec', 'template', 'spec').version = 'v1.33.0';
      }
      more(objects);
    };
    const waiting = await explained(
      'audit-level',
      change(() => {}),
    );
    expect(waiting.text).toContain('are not up to date already, without this change');
    const onDelete = await explained(
      'audit-level',
      change((objects) => {
        for (const group of ofKind(objects, 'MachineDeployment')) {
          objectAt(group, 'spec').rollout = { strategy: { type: 'OnDelete' } };
        }
      }),
    );
    expect(onDelete.text).toContain('they stay until you delete them (OnDelete)');
    const paused = await explained(
      'audit-level',
      change((objects) => {
        objectAt(ofKind(objects, 'Cluster')[0], 'spec').paused = true;
      }),
    );
    expect(paused.text).toContain('is paused');
  });
});

test('of real states, nothing is said but of the one whose template changed', async () => {
  const said: string[] = [];
  for (const { name } of recordedChanges) {
    const { text } = await explained(name);
    if (/ unlike |not seen its newest/.test(text)) {
      said.push(name);
    }
  }
  expect(said).toEqual(['F-md-bootstrap-rotated']);
});
