/** Size of a character and of a line, in pixels, for the font of the image. */
const [charWidth, lineHeight, fontSize, padding] = [7.8, 18, 13, 16] as const;

/** Characters per line; longer lines are wrapped. */
const columns = 100;

const colors = {
  background: '#1b1f24',
  text: '#d0d7de',
  prompt: '#7ee787',
  warning: '#f2cc60',
  failure: '#ff7b72',
} as const;

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Lines wrapped between words to the width of the image; continuations are indented. */
function wrapped(line: string): string[] {
  const lines: string[] = [];
  let rest = line;
  while (rest.length > columns) {
    const at = rest.lastIndexOf(' ', columns);
    const end = at > 4 ? at : columns;
    lines.push(rest.slice(0, end));
    rest = `    ${rest.slice(end).trimStart()}`;
  }
  return [...lines, rest];
}

function colorOf(line: string): string {
  const isWarning = line.startsWith('Warning: ') || line.startsWith('  warning ');
  const isFailure = line.startsWith('  FAILED ') || /^ {8}-| {2}replaces \d/.test(line);
  return line.startsWith('$ ') || /^ {8}\+/.test(line)
    ? colors.prompt
    : isWarning
      ? colors.warning
      : isFailure
        ? colors.failure
        : colors.text;
}

/** A recorded terminal session (commands after `$ `, output below) as an SVG. */
export function terminalImage(session: string): string {
  const lines = session
    .trimEnd()
    .split('\n')
    .flatMap((line) => wrapped(line).map((text) => ({ text, color: colorOf(line) })));
  const width = Math.ceil(columns * charWidth + 2 * padding);
  const height = lines.length * lineHeight + 2 * padding;
  const texts = lines.map(
    ({ text, color }, index) =>
      `  <text x="${padding}" y="${padding + (index + 0.8) * lineHeight}" fill="${color}" xml:space="preserve">${escapeXml(text)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${fontSize}">`,
    `  <rect width="100%" height="100%" rx="8" fill="${colors.background}"/>`,
    ...texts,
    '</svg>',
    '',
  ].join('\n');
}
