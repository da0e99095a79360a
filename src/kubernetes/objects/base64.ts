function isInOneLine(text: string): boolean {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  // The decoder skips other characters, accepts those of base64url, and uses only the low byte beyond ASCII.
  return (
    Buffer.from(text, 'base64').length === (text.length / 4) * 3 - padding &&
    Buffer.byteLength(text) === text.length &&
    !text.includes('-') &&
    !text.includes('_')
  );
}

/** Whether a text is padded standard base64, as Go's `base64.StdEncoding` accepts it: line breaks are ignored. Linear. */
export function isBase64(text: string): boolean {
  return isInOneLine(text) || (/[\n\r]/.test(text) && isInOneLine(text.replaceAll(/[\n\r]/g, '')));
}
