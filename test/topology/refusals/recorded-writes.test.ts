import { expect, test } from 'vitest';
import { type JsonObject, textAt } from '../../../src/kubernetes/index.ts';
import { v1 } from '../../../src/runtimehooks/index.ts';
import { readBlueprint } from '../../../src/topology/blueprint/blueprint.ts';
import { layered, plan, World } from '../../../src/topology/index.ts';
import {
  admittedCluster,
  type ClusterFacts,
  clusterApiSchemaOf,
  clusterClassRefusal,
  decodingRefusal,
  type Refusal,
  schemaRefusal,
} from '../../../src/topology/refusals/index.ts';
import { testRows } from '../../support/rows.ts';
import { type RecordedWrite, recordedWrites, writtenIn } from './recorded.ts';

const recorded = recordedWrites();
const schemaOf = clusterApiSchemaOf(v1(14));
const blueprint = readBlueprint(recorded.class, () => undefined);

/** What the webhooks look up: one class, and nothing that was made of a Cluster: it is paused. */
function factsOf(cluster: JsonObject): ClusterFacts {
  const [name, namespace] = ['name', 'namespace'].map((field) =>
    textAt(cluster, 'spec', 'topology', 'classRef', field),
  );
  const isKnown = name === 'fleet' && (namespace === '' || namespace === 'refusals');
  return {
    blueprint: isKnown ? blueprint : undefined,
    isClassMissing: !isKnown,
    oldClass: blueprint.spec,
    controlPlane: 'unreferenced',
    workers: [],
  };
}

/** Reads, sets defaults, checks the schema and asks the webhooks, as an API server does it. */
function refusalOf(write: RecordedWrite): Refusal | undefined {
  const { object, old } = writtenIn(recorded, write);
  const unread = decodingRefusal(object, schemaOf);
  if (unread !== undefined) {
    return unread;
  }
  if (write.kind === 'ClusterClass') {
    return schemaRefusal(object, old, schemaOf) ?? clusterClassRefusal(object, old, [recorded.cluster]);
  }
  const { cluster, refusal } = admittedCluster(object, old, factsOf(object));
  // Schemas are checked after the webhook that sets defaults.
  const isEarly = refusal?.message.includes('"default.cluster.') === true;
  return (isEarly ? undefined : schemaRefusal(cluster, old, schemaOf)) ?? refusal;
}

/** What Go's CEL library says of a text that it cannot parse is worded differently here. */
const isSyntaxError = ({ message = '' }: RecordedWrite): boolean => message.includes(': Syntax error: ');

const rows = recorded.cases.map((write) => [`${write.operation} ${write.kind}: ${write.change}`, write] as const);

testRows('an API server with Cluster API refuses and allows the same, in the same words', rows, (write) => {
  const refusal = refusalOf(write);
  expect(refusal === undefined).toBe(write.allowed);
  if (refusal !== undefined && !isSyntaxError(write)) {
    const { code, reason, message, causes } = refusal;
    expect({ code, reason, message, causes }).toEqual({
      code: write.code,
      reason: write.reason ?? '',
      message: write.message,
      causes: write.causes ?? [],
    });
  }
});

test('nearly all words are compared', () => {
  expect(recorded.cases.filter(isSyntaxError)).toHaveLength(4);
});

/** Of updates every fourth; a class that is not among the objects is not known. */
const planned = rows.filter(
  ([, { operation, message = '' }], index) =>
    operation === 'update' && index % 4 === 0 && !message.includes('not found'),
);

testRows('a plan says of the same updates that they are refused', planned, async (write) => {
  const before = [...recorded.templates, recorded.class, recorded.cluster];
  const { object } = writtenIn(recorded, write);
  const { clusters } = await plan(new World(before), new World(layered(before, [object])), {
    now: new Date('2026-11-26T00:00:00Z'),
    clusterApiVersion: v1(14),
  });
  const problems = clusters.flatMap((cluster) => cluster.problems.map(({ text }) => text));
  expect(problems.some((text) => text.includes(' refuses '))).toBe(!write.allowed);
});
