import { parseSync } from 'oxc-parser';
import { entriesOf } from './changelog.ts';

/** What users rely on, by what it is: a declaration that a package exports, a flag, a metric. */
type Surface = ReadonlyMap<string, string>;

/** The declarations of a report in docs/api, by name, and the names that it exports. */
function surfaceOfTypes(file: string, text: string): Surface {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) {
    throw new Error(`${file}: ${errors[0]?.message}`);
  }
  const surface = new Map<string, string>();
  const add = (name: string, { start, end }: { start: number; end: number }) =>
    surface.set(name, `${surface.get(name) ?? ''}${text.slice(start, end)}\n`);
  for (const node of program.body) {
    const declared = node.type === 'ExportNamedDeclaration' ? (node.declaration ?? node) : node;
    if (declared.type === 'ExportNamedDeclaration') {
      for (const { exported } of declared.specifiers) {
        surface.set(`export ${exported.type === 'Literal' ? exported.value : exported.name}`, '');
      }
    } else if (declared.type === 'VariableDeclaration') {
      for (const one of declared.declarations) {
        add(one.id.type === 'Identifier' ? one.id.name : '', declared);
      }
    } else if ('id' in declared && declared.id !== null && 'name' in declared.id) {
      add(String(declared.id.name), declared);
    }
  }
  return surface;
}

/** The lines of the report about the program: `metric NAME: type`. */
const surfaceOfProgram = (text: string): Surface =>
  new Map(
    text
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );

const surfaceOf = (file: string, text: string) =>
  file.endsWith('.d.ts') ? surfaceOfTypes(file, text) : surfaceOfProgram(text);

/** A change that may break users. */
interface Change {
  /** `flag lint --format`. */
  what: string;
  isGone: boolean;
}

const linesOf = (text: string) => text.split('\n').map((line) => line.trim());

/** What is gone, or has lost a line. What is only new, or only has more lines, breaks nobody. */
function changesIn(before: Surface, after: Surface): Change[] {
  return [...before].flatMap(([what, text]): Change[] => {
    const now = after.get(what);
    if (now === undefined) {
      // Users see a declaration through what is exported, and a command's flags are gone with it.
      const isPart = !what.includes(' ') || isOfCommandGone(what, after);
      return isPart ? [] : [{ what, isGone: true }];
    }
    const left = new Set(linesOf(now));
    return linesOf(text).every((line) => left.has(line)) ? [] : [{ what, isGone: false }];
  });
}

function isOfCommandGone(what: string, after: Surface): boolean {
  const [kind, ...words] = what.split(' ');
  return kind === 'flag' && !after.has(`command ${words.slice(0, -1).join(' ')}`);
}

/** Whether an entry has a name as a word. */
const names = (entry: string, name: string) => entry.split(/[^\w$-]+/).includes(name);

/**
 * What the changelog has to say and does not: of what is gone, an entry that begins with **Breaking:** and names it; of
 * what has changed, any entry that names it.
 *
 * @param before reports of the last release, by file name (docs/api).
 * @param notes the section of the release in the changelog.
 */
export function missingEntries(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  notes: string,
): string[] {
  const entries = entriesOf(notes);
  const breaking = entries.filter((entry) => entry.startsWith('- **Breaking:**'));
  return [...before].flatMap(([file, text]) =>
    changesIn(surfaceOf(file, text), surfaceOf(file, after.get(file) ?? '')).flatMap(({ what, isGone }) => {
      const name = what.split(' ').at(-1) ?? what;
      if ((isGone ? breaking : entries).some((entry) => names(entry, name))) {
        return [];
      }
      const remedy = isGone
        ? `an entry that begins with **Breaking:** and names ${name}`
        : `an entry that names ${name}`;
      return [`docs/api/${file}: ${what} ${isGone ? 'is gone' : 'has changed'}, and CHANGELOG.md lacks ${remedy}`];
    }),
  );
}
