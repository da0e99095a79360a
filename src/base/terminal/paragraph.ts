import { withoutControls } from './printable.ts';

/** A paragraph in lines of at most `width` columns; the first line begins with `start`, others with `margin`. */
export function paragraph(start: string, text: string, margin: string, width = 80): string[] {
  const lines: string[] = [];
  let line = start;
  for (const word of withoutControls(text).split(' ')) {
    if (line.length + word.length > width && line.length > margin.length) {
      lines.push(line.trimEnd());
      line = margin;
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()];
}
