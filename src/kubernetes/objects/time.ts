/** A time in whole seconds, as metav1.Time is serialized. */
export function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
