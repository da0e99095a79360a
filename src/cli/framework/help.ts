import type { Help, HelpConfiguration, Option } from 'commander';

/** Maximum width of the column of names; the description of a longer name begins on the next line. */
const maxTermWidth = 26;
/** Width that descriptions have at least; commander does not wrap at less. */
const minDescriptionWidth = 20;
/** Columns before a name, and between it and its description. */
const [indent, gap] = [2, 2];

/** The width of the help in characters: the terminal's, but no wider than is easy to read. */
export function helpWidthOf(terminal: { columns?: number | undefined }): number {
  return Math.min(terminal.columns ?? 80, 100);
}

function describeOption(option: Option): string {
  const { argChoices, defaultValue, defaultValueDescription, envVar } = option;
  const isEmptyList = Array.isArray(defaultValue) && defaultValue.length === 0;
  const notes = [
    ...(argChoices === undefined ? [] : [`one of ${argChoices.join(', ')}`]),
    // That a switch is off or a list empty by default need not be said.
    ...(defaultValueDescription !== undefined
      ? [`default: ${defaultValueDescription}`]
      : defaultValue === undefined || option.isBoolean() || isEmptyList
        ? []
        : [`default: ${defaultValue}`]),
    ...(envVar === undefined ? [] : [`env: ${envVar}`]),
  ];
  return notes.length === 0 ? option.description : `${option.description} (${notes.join('; ')})`;
}

export const helpConfiguration: HelpConfiguration = {
  minWidthToWrap: minDescriptionWidth,
  optionDescription: describeOption,
  padWidth(this: Help, command, helper) {
    const longest = Math.max(
      helper.longestOptionTermLength(command, helper),
      helper.longestSubcommandTermLength(command, helper),
      helper.longestArgumentTermLength(command, helper),
    );
    const room = (this.helpWidth ?? 80) - minDescriptionWidth - indent - gap;
    return Math.min(longest, maxTermWidth, Math.max(room, indent));
  },
  formatItem(this: Help, term, termWidth, description, helper) {
    if (description === '') {
      return `${' '.repeat(indent)}${term}`;
    }
    const column = indent + termWidth + gap;
    const lines = helper.boxWrap(description, (this.helpWidth ?? 80) - column).split('\n');
    const margin = `\n${' '.repeat(column)}`;
    const isLong = helper.displayWidth(term) > termWidth;
    const head = ' '.repeat(indent) + (isLong ? `${term}${margin}` : `${term.padEnd(termWidth)}${' '.repeat(gap)}`);
    return head + lines.join(margin);
  },
};
