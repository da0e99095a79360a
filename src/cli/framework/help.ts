import type { HelpConfiguration, Option } from 'commander';

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
  // Commander does not wrap descriptions in less room.
  minWidthToWrap: 20,
  optionDescription: describeOption,
};
