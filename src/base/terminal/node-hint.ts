/** An error's message without Node.js' hint at `--use-system-ca`, wrong where a caBundle says whom to trust. */
export function withoutNodeHint(message: string): string {
  return message.split('; if the root CA is installed locally', 1)[0] as string;
}
