import type { Schema } from '../schema/index.ts';

const text: Schema = { type: 'string' };
const time: Schema = { type: 'string', format: 'date-time', nullable: true };
const number: Schema = { type: 'integer', format: 'int64' };
const flag: Schema = { type: 'boolean' };
const texts: Schema = { type: 'object', additionalProperties: text };
const listOf = (items: Schema): Schema => ({ type: 'array', items });

/** metav1.ObjectMeta: the types of its fields. */
export const objectMeta: Schema = {
  type: 'object',
  properties: {
    annotations: texts,
    creationTimestamp: time,
    deletionGracePeriodSeconds: number,
    deletionTimestamp: time,
    finalizers: listOf(text),
    generateName: text,
    generation: number,
    labels: texts,
    managedFields: listOf({
      type: 'object',
      properties: {
        apiVersion: text,
        fieldsType: text,
        fieldsV1: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        manager: text,
        operation: text,
        subresource: text,
        time,
      },
    }),
    name: text,
    namespace: text,
    ownerReferences: listOf({
      type: 'object',
      properties: { apiVersion: text, blockOwnerDeletion: flag, controller: flag, kind: text, name: text, uid: text },
    }),
    resourceVersion: text,
    selfLink: text,
    uid: text,
  },
};
