// Apart from the colours, whose library asks for Node's stream of stdout: that costs a status line 4 ms.

/** `3 h 02 m`, `46 m`; rounded to whole minutes. */
export function minutes(value: number): string {
  const whole = Math.round(value);
  const hours = Math.floor(whole / 60);
  const rest = whole % 60;
  return hours === 0 ? `${rest} m` : `${hours} h ${String(rest).padStart(2, '0')} m`;
}
