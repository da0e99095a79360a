// A child process that measures decisions, so that one that never ends can be killed: reads jobs, replies with costs.
import { type Cost, costOf } from './decision.ts';
import { shapes } from './shapes.ts';
import { variantOf } from './variant.ts';

/** What to measure: a shape by its index, or a variant by its seed. */
export interface Job {
  shape?: number;
  seed?: number;
  sizeBytes: number;
  /** Bodies that cost more are measured again, in more rounds. */
  doubtful: { ratio: number; ms: number };
}

/** The result of a job. */
export interface Judged extends Cost {
  name: string;
}

process.on('message', ({ shape: index, seed, sizeBytes, doubtful }: Job) => {
  const shape = index === undefined ? undefined : shapes[index];
  const { name, webhook, body } =
    shape === undefined
      ? variantOf(seed ?? 0, sizeBytes)
      : { name: shape.name, webhook: shape.webhook, body: shape.body(sizeBytes) };
  process.send?.({ name, ...costOf(webhook, body, doubtful) } satisfies Judged);
});
