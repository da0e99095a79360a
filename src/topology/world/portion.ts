import type { Json } from '../../kubernetes/index.ts';

/** A number of Machines, or a percentage of the replicas. */
export function portion(
  value: Json | undefined,
  replicas: number,
  round: (number: number) => number,
  otherwise: number,
) {
  const percent = typeof value === 'string' ? /^(\d{1,3})%$/.exec(value)?.[1] : undefined;
  return percent === undefined
    ? typeof value === 'number'
      ? value
      : otherwise
    : round((Number(percent) * replicas) / 100);
}
