import { expect } from 'vitest';
import { v1 } from '../../../src/runtimehooks/index.ts';
import { clusterApiSchemaOf, decodingRefusal, schemaRefusal } from '../../../src/topology/refusals/index.ts';
import { testRows } from '../../support/rows.ts';
import { type RecordedWrite, recordedWrites, writtenIn } from './recorded.ts';

const recorded = recordedWrites();
const schemaOf = clusterApiSchemaOf(v1(14));

/** Whether a webhook of Cluster API refused what it could read: that is not the schema's. */
const isOfWebhook = ({ allowed, message, code }: RecordedWrite): boolean =>
  !allowed && message.startsWith('admission webhook "') && code !== 400;

const rows = recorded.cases
  .filter((write) => !isOfWebhook(write))
  .map((write) => [`${write.operation} ${write.kind}: ${write.change}`, write] as const);

testRows('an API server refuses and allows the same, in the same words', rows, (write) => {
  const { object, old } = writtenIn(recorded, write);
  const refusal = decodingRefusal(object, schemaOf) ?? schemaRefusal(object, old, schemaOf);
  expect(refusal?.message).toBe(write.allowed ? undefined : write.message);
  if (refusal !== undefined) {
    const { code, reason, causes } = refusal;
    expect({ code, reason, causes }).toEqual({
      code: write.code,
      reason: write.reason ?? '',
      causes: write.causes ?? [],
    });
  }
});

/** The webhook for defaults is asked before the schema: it may refuse the same object for another reason. */
const ofValidation = recorded.cases
  .filter((write) => isOfWebhook(write) && write.message.startsWith('admission webhook "validation.'))
  .map((write) => [`${write.operation} ${write.kind}: ${write.change}`, write] as const);

testRows('what the webhooks refuse that validate is no problem of the schema', ofValidation, (write) => {
  const { object, old } = writtenIn(recorded, write);
  expect(decodingRefusal(object, schemaOf) ?? schemaRefusal(object, old, schemaOf)).toBeUndefined();
});
