/** Characters that untrusted text must not bring to a terminal or a log: controls, and those that change its direction. */
const harmful = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
/** The same but for the controls up to U+001F: JSON and YAML escape them in strings, and have line breaks between them. */
const harmfulInStrings = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** What the runner of a workflow takes for a command anywhere in a line: `##[group]`, in GitHub Actions and Azure. */
const commandStart = /##(?=\[|vso\[)/g;

/** Untrusted text, with controls and direction marks as escapes (`\u001b`), and without commands to runners. */
export function withoutControls(text: string): string {
  return text.replaceAll(harmful, escapeOf).replaceAll(commandStart, '#\\u0023');
}

const escapeOf = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** The same for text of several lines, such as a diff: line breaks and tabs stay. */
export function printableLines(text: string): string {
  return text
    .split(/(\r?\n|\t)/)
    .map((part, index) => (index % 2 === 0 ? withoutControls(part) : part))
    .join('');
}

/** A value as JSON that is printed: the same characters are escapes, which mean the same. */
export function printableJson(value: unknown, indent?: number): string {
  return printableJsonText(JSON.stringify(value, null, indent));
}

/** The same for text that is JSON, or code that has the escapes of JSON in its strings. */
export function printableJsonText(text: string): string {
  return text.replaceAll(harmfulInStrings, escapeOf).replaceAll(commandStart, '#\\u0023');
}

/** Whether YAML may be printed as it is. */
export function isPrintableYaml(text: string): boolean {
  return text.search(harmfulInStrings) === -1 && text.search(commandStart) === -1;
}

/** The same for text that is part of a line: truncated after 1,000 characters. */
export function printable(text: string): string {
  return withoutControls(truncated(text, 1000));
}

export function truncated(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text for HTML and XML, in which nothing is markup. */
export function withoutMarkup(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] as string);
}

/** An error's message without Node.js' hint at `--use-system-ca`, wrong where a caBundle says whom to trust. */
export function withoutNodeHint(message: string): string {
  return message.split('; if the root CA is installed locally', 1)[0] as string;
}
