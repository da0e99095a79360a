/**
 * The message of an error without Node.js' hint to trust the system's CAs (`--use-system-ca`), which is wrong where a
 * caBundle or a kubeconfig says whom to trust.
 */
export function withoutNodeHint(message: string): string {
  return message.split('; if the root CA is installed locally', 1)[0] as string;
}
