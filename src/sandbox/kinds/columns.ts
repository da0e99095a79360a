import { fieldAt, isJsonObject, type Json, type JsonObject, objectsAt } from '../../kubernetes/index.ts';
import type { Column } from '../resources/resource.ts';

/** A column of the tables that `kubectl get` prints; `value` is a JSON path, or reads it from the object. */
export function column(name: string, value: Column['value'], type = 'string', description = name): Column {
  return { name, type, description, priority: 0, value };
}

/** The number of items or fields of a value; 0 for any other value. */
export function sizeOf(value: Json | undefined): number {
  return Array.isArray(value) ? value.length : isJsonObject(value) ? Object.keys(value).length : 0;
}

export const age = column(
  'Age',
  '.metadata.creationTimestamp',
  'date',
  'Time since the object was created, on the clock of the server',
);

/** The ports of a Service. */
export function portsOf(object: JsonObject): string {
  const ports = fieldAt(object, 'spec', 'ports');
  return objectsAt(ports)
    .map(({ port, protocol }) => `${String(port)}/${String(protocol ?? 'TCP')}`)
    .join(',');
}

/** The number of ready replicas, out of the desired ones. */
export const ready = column('Ready', (object) => {
  const wanted = fieldAt(object, 'spec', 'replicas') ?? 1;
  return `${String(fieldAt(object, 'status', 'readyReplicas') ?? 0)}/${String(wanted)}`;
});

export const webhooks = column('Webhooks', (object) => sizeOf(object.webhooks), 'integer');

/** The columns of a binding. */
export function roleColumns(): Column[] {
  return [
    column(
      'Role',
      (object) => `${String(fieldAt(object, 'roleRef', 'kind'))}/${String(fieldAt(object, 'roleRef', 'name'))}`,
    ),
    age,
  ];
}
