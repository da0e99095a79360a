import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../base/index.ts';
import { type HookDefinition, hooks } from '../../runtimehooks/index.ts';

/** Names of the hooks that a project can have handlers for. */
export const hookNames: readonly string[] = Object.keys(hooks).filter((name) => name !== 'Discovery');

/** The name of a hook's handler, and of its file: `before-cluster-create`. */
function handlerNameOf(hook: string): string {
  return hook.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
}

const variableOf = (hook: string) => `${hook.charAt(0).toLowerCase()}${hook.slice(1)}`;
const summaryOf = (hook: string) => (hooks[hook as keyof typeof hooks] as HookDefinition).summary;

export const typesFile = 'src/template-types.ts';

/** The text of a template with its placeholders filled in; those without a value stay. */
const filled = (text: string, values: Readonly<Record<string, string>>) =>
  text.replaceAll(/\{\{([a-z]+)\}\}/g, (mark, key: string) => values[key] ?? mark);

/** The templates in a folder by their paths in it. */
export function templatesIn(folder: string, values: Readonly<Record<string, string>>): Map<string, string> {
  const root = fileURLToPath(new URL(`templates/${folder}/`, packageRoot));
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return [file.slice(root.length).replaceAll('\\', '/'), filled(readFileSync(file, 'utf8'), values)];
    }),
  );
}

export const pathOf = (hook: string) => `src/handlers/${handlerNameOf(hook)}.ts`;
/** The hook whose file is the template for all hooks that have none of their own. */
const example = 'BeforeClusterCreate';

/** These hooks and those that they need: patches get only the variables that their own extension defines. */
export const withNeeded = (chosen: readonly string[]): string[] => [
  ...new Set([...chosen, ...(chosen.includes('GeneratePatches') ? ['DiscoverVariables'] : [])]),
];

/** The files of handlers, by path, with those that they need. */
export function handlerFiles(name: string, chosen: readonly string[], hasTypes: boolean): Map<string, string> {
  const optional = templatesIn('optional', { name });
  const files = new Map(
    chosen.map((hook) => {
      const text = [variableOf, handlerNameOf, (one: string) => one].reduce(
        (result, form) => result.replaceAll(form(example), form(hook)),
        optional.get(pathOf(hook)) ?? optional.get(pathOf(example)) ?? '',
      );
      return [pathOf(hook), filled(text, { summary: summaryOf(hook) })];
    }),
  );
  const isNeeded: Readonly<Record<string, boolean>> = {
    'src/variables.ts': chosen.includes('DiscoverVariables'),
    'src/jobs.ts': [...files.values()].some((text) => text.includes('../jobs.ts')),
    'src/in-place.ts': chosen.some((hook) => hook.includes('UpdateMachine')),
  };
  for (const [path, text] of optional) {
    if (isNeeded[path] ?? (path.startsWith('test/') && chosen.includes('GeneratePatches'))) {
      files.set(path, hasTypes ? text : text.replaceAll(/^.*\bknownFields\b.*\n/gm, ''));
    }
  }
  return files;
}

/** The lines that import handlers into the file that lists them, and the names of the handlers there. */
export function importsOf(chosen: readonly string[]): [lines: string, names: string[]] {
  const lines = chosen.map((hook) => `import { ${variableOf(hook)} } from './${handlerNameOf(hook)}.ts';\n`);
  return [lines.join(''), chosen.map(variableOf)];
}

export function handlersFile(chosen: readonly string[]): string {
  const [imports, names] = importsOf(chosen);
  return `${imports}\n/** The handlers, as Discovery lists them. */\nexport const handlers = [${names.join(', ')}];\n`;
}

export function handlersTable(chosen: readonly string[]): string {
  const rows = chosen.map((hook) => `| \`${handlerNameOf(hook)}\` | ${hook}: ${summaryOf(hook)} |`);
  return ['| handler | hook |', '| --- | --- |', ...rows].join('\n');
}
