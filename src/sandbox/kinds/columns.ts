import type { Column } from '../resources/resource.ts';

/** A column of the tables that `kubectl get` prints; `value` is a JSON path, or reads it from the object. */
export function column(name: string, value: Column['value'], type = 'string', description = name): Column {
  return { name, type, description, priority: 0, value };
}

export const age = column(
  'Age',
  '.metadata.creationTimestamp',
  'date',
  'Time since the object was created, on the clock of the server',
);
