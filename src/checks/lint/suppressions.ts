import { rules } from '../../policy/index.ts';

/** The start of a comment to the linter, after its `#`. */
const marker = 'extensionconfig-lint:';

interface Suppression {
  ruleId: string;
  line: number;
  /** The line that it is about: its own if content precedes it, else the next one with content. */
  target: number;
  isUsed: boolean;
}

/** The rule that a comment turns off, or what is wrong with the comment. */
function parse(text: string): { ruleId: string } | { message: string } {
  const [level, ruleId = '', reason] = text.trim().split(/\s+/, 3);
  const rule = rules.find(({ id }) => id === ruleId);
  if (level !== 'off') {
    return { message: `write "# ${marker} off RULE reason"` };
  }
  if (rule === undefined) {
    const named = JSON.stringify(ruleId.slice(0, 100));
    return { message: `there is no rule ${named}: "extensionconfig-webhook rules" lists them` };
  }
  if (rule.upstream) {
    return { message: `${ruleId} cannot be turned off: Cluster API itself rejects this` };
  }
  return reason === undefined ? { message: `after ${ruleId}, write why it is turned off here` } : { ruleId };
}

/** The text of a comment to the linter in a line, and whether content precedes it. */
function commentIn(line: string): { text: string; followsContent: boolean } | undefined {
  const at = line.indexOf(marker);
  const before = line.slice(0, Math.max(at, 0)).trimEnd();
  const content = before.slice(0, -1);
  const isComment = before.endsWith('#') && (content === '' || /\s$/.test(content));
  return isComment ? { text: line.slice(at + marker.length), followsContent: content.trim() !== '' } : undefined;
}

/** Whether a line has nothing but a comment, or separates documents. */
const isBetween = (line: string) => /^\s*(#|$)/.test(line) || line.startsWith('---');

/** The comments in the text of a file, line by line: one inside a block of text counts too. */
export function readSuppressions(text: string) {
  const suppressions: Suppression[] = [];
  const mistakes: { line: number; message: string }[] = [];
  let above: Suppression[] = [];
  for (const [index, line] of text.includes(marker) ? text.split('\n').entries() : []) {
    const number = index + 1;
    const comment = commentIn(line);
    if (!isBetween(line)) {
      for (const suppression of above) {
        suppression.target = number;
      }
      above = [];
    }
    if (comment === undefined) {
      continue;
    }
    const parsed = parse(comment.text);
    if ('message' in parsed) {
      mistakes.push({ line: number, message: parsed.message });
      continue;
    }
    const suppression = { ...parsed, line: number, target: number, isUsed: false };
    suppressions.push(suppression);
    above.push(...(comment.followsContent ? [] : [suppression]));
  }
  const byTarget = Map.groupBy(suppressions, ({ ruleId, target }) => `${ruleId} ${target}`);
  return {
    /** Comments that turn off nothing because of a mistake. */
    mistakes,
    /** Whether a comment turns off a rule in a line, or in the whole object, if it is directly above its first line. */
    cover(ruleId: string, line: number, firstLine: number): boolean {
      const covering = [
        ...(byTarget.get(`${ruleId} ${line}`) ?? []),
        ...(byTarget.get(`${ruleId} ${firstLine}`) ?? []).filter((one) => one.line !== one.target),
      ];
      for (const suppression of covering) {
        suppression.isUsed = true;
      }
      return covering.length > 0;
    },
    unused: () => suppressions.filter(({ isUsed }) => !isUsed),
  };
}
