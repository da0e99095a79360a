/** A block of code in a page. */
export interface Block {
  language: string;
  text: string;
  /** Line of the page, from 1. */
  line: number;
  /** Why its commands cannot run in a test. */
  skip?: string;
  /** It keeps running; this is the text that it prints when it is ready. */
  background?: string;
  /** Exit code of its last command that fails. */
  exit: number;
  /** The file that it represents. */
  file?: string;
}

const attributes = ['skip', 'background', 'exit', 'file'] as const;

/**
 * The blocks of a page. Attributes for tests follow the language, where readers do not see them: ```` ```sh exit=1
 * ````, `background="text"`, `skip="reason"`, and ```` ```yaml file="name" ````.
 *
 * @throws {Error} for any other attribute, and for a block that does not end.
 */
export function blocksOf(markdown: string): Block[] {
  const lines = markdown.split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const opening = /^```(\S*)(.*)$/.exec(lines[at] as string);
    if (opening === null) {
      continue;
    }
    const end = lines.indexOf('```', at + 1);
    if (end === -1) {
      throw new Error(`line ${at + 1}: the block does not end`);
    }
    const [, language = '', info = ''] = opening;
    const block: Block = { language, text: lines.slice(at + 1, end).join('\n'), line: at + 1, exit: 0 };
    for (const [, name = '', quoted, plain] of info.matchAll(/ ([a-z]+)=(?:"([^"]*)"|(\S+))/g)) {
      const attribute = attributes.find((known) => known === name);
      if (attribute === undefined) {
        throw new Error(`line ${at + 1}: unknown attribute ${name}`);
      }
      if (attribute === 'exit') {
        block.exit = Number(plain);
      } else {
        block[attribute] = quoted ?? plain ?? '';
      }
    }
    blocks.push(block);
    at = end;
  }
  return blocks;
}
