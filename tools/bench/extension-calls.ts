import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../src/kubernetes/index.ts';

const recorded = (name: string) =>
  JSON.parse(
    readFileSync(new URL(`../../test/support/fixtures/runtime-sdk/calls/${name}.json`, import.meta.url), 'utf8'),
  ) as {
    url: string;
    body: JsonObject;
  };

const pathOf = (url: string, handler: string) => `${url.slice(0, url.lastIndexOf('/'))}/${handler}`;

/** Templates of a large Cluster. */
const templateCount = 50;
/** Bytes of one template. */
const templateBytes = 5 * 1024;

/** A GeneratePatches request with this many templates of this size, made from the recorded ones. */
function largeRequest({ items = [], ...request }: JsonObject): JsonObject {
  const samples = items as JsonObject[];
  return {
    ...request,
    items: Array.from({ length: templateCount }, (_, index) => {
      const item = structuredClone(samples[index % samples.length]) as JsonObject;
      const files: JsonObject[] = [];
      specOf(item.object as JsonObject).files = files;
      while (JSON.stringify(item.object).length < templateBytes) {
        files.push({ path: `/etc/kubernetes/file-${files.length}`, owner: 'root:root', content: 'x'.repeat(80) });
      }
      return { ...item, uid: `${String(index).padStart(8, '0')}-6ba7-4702-9e11-a480eeab2e30` };
    }),
  };
}

/** What a template describes: `spec.template.spec`. */
const specOf = ({ spec }: JsonObject) => ((spec as JsonObject).template as JsonObject).spec as JsonObject;

const upgrade = recorded('BeforeClusterUpgrade');
const patches = recorded('GeneratePatches');

/** The calls of bench:extension. */
export const benchCalls = [
  {
    name: 'BeforeClusterUpgrade',
    path: pathOf(upgrade.url.split('?')[0] ?? '', 'upgrade'),
    body: JSON.stringify(upgrade.body),
  },
  {
    name: `GeneratePatches, ${templateCount} templates of ${templateBytes / 1024} KiB`,
    path: pathOf(patches.url.split('?')[0] ?? '', 'patch'),
    body: JSON.stringify(largeRequest(patches.body)),
  },
];
