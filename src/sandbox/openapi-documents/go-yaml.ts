import { isJsonObject, type Json } from '../../kubernetes/index.ts';

/** What yaml.v3 reads as null, a boolean, a number or a time: texts like these are quoted. */
const constants =
  /^(?:|~|<<|null|Null|NULL|true|True|TRUE|false|False|FALSE|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const numbers = /^[-+]?(?:(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0[xX][\dA-Fa-f]+|0[oO][0-7]+|0[bB][01]+)$/;
const times = /^\d{4}-\d{1,2}-\d{1,2}(?:[Tt ]|$)/;

/** Characters that are written as escapes, in double quotes; a tab only outside of literal blocks. */
const escaped = /[^\n\t\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/u;
/** Where plain text would mean something else (libyaml, yaml_emitter_analyze_scalar). */
const indicators = /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[-?:](?: |$)| )|: | #|[: ]$/;
/** Longest key that is written in front of its colon. */
const maxKey = 128;

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\t': '\\t',
  '\r': '\\r',
};

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16).toUpperCase();
  return code < 256 ? `\\x${hex.padStart(2, '0')}` : code < 65_536 ? `\\u${hex}` : `\\U${hex.padStart(8, '0')}`;
}

function quoted(text: string): string {
  const characters = [...text].map(
    (character) => shortEscapes[character] ?? (escaped.test(character) ? escapeOf(character) : character),
  );
  return `"${characters.join('')}"`;
}

/** A text on one line. */
function inline(text: string): string {
  const plain = text.replaceAll('_', '');
  if (constants.test(text) || numbers.test(plain) || times.test(text) || /[\n\t]/.test(text) || escaped.test(text)) {
    return quoted(text);
  }
  return indicators.test(text) ? `'${text.replaceAll("'", "''")}'` : text;
}

/** A text of several lines, as a literal block that is indented by `pad`. */
function literal(text: string, pad: string): string {
  const chomping = text.endsWith('\n\n') ? '+' : text.endsWith('\n') ? '' : '-';
  const lines = text.replace(/\n$/, '').split('\n');
  return [`|${chomping}`, ...lines.map((line) => (line === '' ? '' : `${pad}${line}`))].join('\n');
}

type Parent = 'none' | 'mapping' | 'sequence';

/** A value in a collection whose items are indented by `indent` columns: what follows the key, or the dash. */
function nodeOf(value: Json, indent: number, parent: Parent): string {
  // Items align with what follows the dash; other levels are multiples of four columns.
  const inner = parent === 'sequence' ? indent + 2 : indent - (indent % 4) + 4;
  if (typeof value === 'string') {
    // yaml.v3 writes some that begin with a space or a line break so that it cannot read them: those are quoted here.
    const isBlock = value.includes('\n') && !escaped.test(value) && !/^[ \n]| (?:\n|$)/.test(value);
    return isBlock ? literal(value, ' '.repeat(inner)) : inline(value);
  }
  const at = parent === 'none' ? 0 : inner;
  const lineStart = `\n${' '.repeat(at)}`;
  const start = parent === 'mapping' ? lineStart : '';
  if (Array.isArray(value) && value.length > 0) {
    return start + value.map((item) => `- ${nodeOf(item, at, 'sequence')}`).join(lineStart);
  }
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  if (entries.length === 0 || entries.some(([key]) => key.length > maxKey)) {
    return JSON.stringify(value);
  }
  const lines = entries.map(([key, item]) => {
    const node = nodeOf(item, at, 'mapping');
    return `${inline(key)}:${node.startsWith('\n') ? '' : ' '}${node}`;
  });
  return start + lines.join(lineStart);
}

/** A value as YAML, as Go's yaml.v3 writes one that it has read from JSON. */
export function goYaml(value: Json): string {
  return `${nodeOf(value, 0, 'none')}\n`;
}
