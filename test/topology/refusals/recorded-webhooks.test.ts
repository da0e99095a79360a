import { expect, test } from 'vitest';
import { textAt } from '../../../src/kubernetes/index.ts';
import { readBlueprint } from '../../../src/topology/blueprint/blueprint.ts';
import {
  type ClusterFacts,
  clusterClassRefusal,
  clusterRefusal,
  defaultedCluster,
  type Refusal,
} from '../../../src/topology/refusals/index.ts';
import { testRows } from '../../support/rows.ts';
import { type RecordedWrite, recordedWrites, writtenIn } from './recorded.ts';

const recorded = recordedWrites();
const blueprint = readBlueprint(recorded.class, () => undefined);

/** What the webhooks refuse, where all that they look up is one class and a Cluster that is paused: nothing was made of it. */
function refusalOf(write: RecordedWrite): Refusal | undefined {
  const { object, old } = writtenIn(recorded, write);
  if (write.kind === 'ClusterClass') {
    return clusterClassRefusal(object, old, [recorded.cluster]);
  }
  const [name, namespace] = ['name', 'namespace'].map((field) => textAt(object, 'spec', 'topology', 'classRef', field));
  const isKnown = name === 'fleet' && (namespace === '' || namespace === 'refusals');
  const facts: ClusterFacts = {
    blueprint: isKnown ? blueprint : undefined,
    isClassMissing: !isKnown,
    oldClass: blueprint.spec,
    controlPlane: 'unreferenced',
    workers: [],
  };
  const defaulted = defaultedCluster(object, old, facts);
  return defaulted.is === 'refused' ? defaulted.refusal : clusterRefusal(defaulted.cluster, old, facts);
}

const rows = recorded.cases
  .filter(({ allowed, message, code }) => allowed || (message.startsWith('admission webhook "') && code !== 400))
  .map((write) => [`${write.operation} ${write.kind}: ${write.change}`, write] as const);

/** What Go's CEL library says of a text that it cannot parse is worded differently here. */
const syntaxError = /: Syntax error: /;

testRows('webhooks of Cluster API refuse and allow the same', rows, (write) => {
  const refusal = refusalOf(write);
  expect(refusal === undefined).toBe(write.allowed);
  if (refusal !== undefined) {
    const { code, reason, causes } = refusal;
    expect({ code, reason }).toEqual({ code: write.code, reason: write.reason });
    expect(causes.map((cause) => [cause.reason, cause.field])).toEqual(
      write.causes?.map((cause) => [cause.reason, cause.field]),
    );
  }
});

testRows(
  'in the same words',
  rows.filter(([, { message = '' }]) => !syntaxError.test(message)),
  (write) => {
    const refusal = refusalOf(write);
    expect(refusal?.message).toBe(write.allowed ? undefined : write.message);
    expect(refusal?.causes.map(({ message }) => message)).toEqual(write.causes?.map(({ message }) => message));
  },
);

test('nearly all words are compared', () => {
  expect(rows.filter(([, { message = '' }]) => syntaxError.test(message))).toHaveLength(4);
});
