// Brightness, contrast and gamma of colours, the same for the shader and for what is drawn by the processor. Pure.
// contrast: -1 is grey, 0 as it is, 1 twice as steep; brightness is added; gamma: above 1 lightens what is dark.
export const TONE_GLSL = /* glsl */ `
uniform vec3 uTone; // brightness, contrast, 1 / gamma
vec3 tone(vec3 c) {
    return clamp((pow(c, vec3(uTone.z)) - 0.5) * (1.0 + uTone.y) + 0.5 + uTone.x, 0.0, 1.0);
}`;

export const toned = (rgb, { brightness, contrast, gamma }) =>
    rgb.map((c) => Math.round(255 * Math.max(0, Math.min(1, ((c / 255) ** (1 / gamma) - 0.5) * (1 + contrast) + 0.5 + brightness))));
