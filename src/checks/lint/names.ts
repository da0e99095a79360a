import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { showPlace } from '../../kubernetes/manifests/index.ts';
import { kustomizationNames } from './kustomize-patches.ts';

/** Creates an empty register of the names of objects that have been checked. */
export function createNames() {
  const places = new Map<string, string>();
  function setOf(file: string): string {
    const folder = dirname(file);
    const isComposed = kustomizationNames.some((name) => existsSync(join(folder, name)));
    return file === '<stdin>' || isComposed ? file : folder;
  }
  return {
    /**
     * Notes the name of an object, and returns where (`FILE:LINE`) another one of that name in the same set is: in its
     * file or, unless kustomize composes what is in it, its folder.
     */
    claim(name: string, { file, line }: { file: string; line: number }): string | undefined {
      if (name === '') {
        return undefined;
      }
      const key = `${setOf(file)}\0${name}`;
      const before = places.get(key);
      if (before === undefined) {
        places.set(key, showPlace({ file, line }));
      }
      return before;
    },
  };
}

export type Names = ReturnType<typeof createNames>;
