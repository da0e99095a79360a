import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { writeDeclarations } from '../../tools/build/declarations.ts';
import { onceARun } from './once-a-run.ts';

/** A folder that has the declaration file of each module of src, where what they import is found. */
export const declarations = () =>
  onceARun('declarations', async (folder) => {
    symlinkSync(new URL('../../node_modules', import.meta.url), join(folder, 'node_modules'));
    writeDeclarations(folder);
    return folder;
  });
