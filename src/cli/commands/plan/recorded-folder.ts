import { join } from 'node:path';
import { newFolder, printable, readRegularFileSync } from '../../../base/index.ts';
import { readableYaml } from '../../../base/yaml/index.ts';
import type { Hiding, Recording } from '../../../checks/plan/index.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  nameOf,
  objectAt,
  objectsAt,
  parseJson,
  textAt,
} from '../../../kubernetes/index.ts';
import { UsageError } from '../../framework/program.ts';

/** Writes a recording to a new or empty folder, for its owner only. */
export function writeRecording(folder: string, { objects, answers }: Recording): void {
  const write = newFolder(folder, { flag: '--record: ', isPrivate: true });
  write(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }, null, 1)}\n`, 'objects.json');
  write(`${JSON.stringify(answers, null, 1)}\n`, 'answers.json');
}

function readObjects(value: Json): JsonObject[] {
  const items = objectAt(value).items;
  if (!Array.isArray(items) || !items.every(isJsonObject)) {
    throw new TypeError('it is not a list of objects');
  }
  return items;
}

function readAnswers(value: unknown): Recording['answers'] {
  const isAnswer = (one: unknown): boolean =>
    isJsonObject(one) &&
    ['hook', 'handler', 'object'].every((field) => typeof one[field] === 'string') &&
    isJsonObject(one.response) &&
    Array.isArray(one.items) &&
    objectsAt(one, 'items').every((item) => typeof item.uid === 'string' && typeof item.holder === 'string');
  if (!Array.isArray(value) || !value.every(isAnswer)) {
    throw new TypeError('it is not a list of recorded answers');
  }
  return value;
}

export function readRecording(folder: string): Recording {
  const read = <T>(name: string, use: (value: Json) => T): T => {
    const file = join(folder, name);
    try {
      return use(parseJson(readRegularFileSync(file, 256 * 1024 * 1024)));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new UsageError(`--recorded: ${printable(file)}: ${reason}: name a folder that --record wrote`);
    }
  };
  return {
    objects: read('objects.json', readObjects),
    answers: read('answers.json', readAnswers),
  };
}

/** Returns a function that writes the objects of a Cluster to a new folder: `before/NAMESPACE/CLUSTER/KIND-NAME.yaml`, and the same below `after`. */
export function objectWriter(folder: string, hiding: Hiding) {
  const write = newFolder(folder, { flag: '--write: ', isPrivate: true });
  return (cluster: string, objects: readonly Readonly<Record<'before' | 'after', JsonObject | undefined>>[]) => {
    for (const [state, object] of objects.flatMap((pair) => Object.entries(hiding.objects(pair)))) {
      if (object !== undefined) {
        const name = `${textAt(object, 'kind')}-${nameOf(object)}.yaml`;
        write(readableYaml(object, -1), state, ...cluster.split('/'), name);
      }
    }
  };
}
